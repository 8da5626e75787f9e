/* Random bytes, forms, blocks and batches for reader.c, built with sanitizers: prints the number of records. */

#include "reader.c"
#include <stdio.h>

static uint64_t state;

static unsigned below(unsigned n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state >> 33) % n;
}

static const char *const PARTS[] = {
    ",", ";", "\"", "'", "\\", "#", " ", "\n", "\r", "\r\n", "a", "bcd", "\"\"", "\xff", "\xc3", "\xa9", "\xc3\xa9", "\xe2\x82", "\xef\xbf\xbd",
    "\xed\xa0\x80", "\xf0\x9f\x98\x80", "\xf4\x90\x80\x80", "a long cell without any sign, of more bytes than a window has",
};

static size_t write_bytes(uint8_t *bytes)
{
    size_t n = 0;
    for (unsigned parts = below(40); parts > 0; parts--) {
        const char *part = PARTS[below(sizeof PARTS / sizeof *PARTS)];
        memcpy(bytes + n, part, strlen(part));
        n += strlen(part);
    }
    return n;
}

static struct reader *open_any(size_t n)
{
    static const uint64_t places[] = {0, 1, 3, UINT64_MAX - 2, UINT64_MAX - 1, UINT64_MAX};
    uint8_t table[256][4] = {{0}};
    for (int i = 0; i < 256; i++)
        table[i][0] = (uint8_t)(i < 128 ? 1 : below(4)), table[i][1] = (uint8_t)i;
    struct signs signs = {
        .delimiter = below(8) ? (below(2) ? ',' : ';') : -1,
        .quote = below(4) ? (below(2) ? '"' : '\'') : -1,
        .escape = below(2) ? '\\' : -1,
        .comment = below(2) ? '#' : -1,
        .multiline = (int)below(2),
        .skips_blanks = (int)below(2),
    };
    return discreet_open(&signs, below(2) ? &table[0][0] : NULL, places, n, below(3), 1 + below(4));
}

/* Take a batch, and read all that it says is there. */
static size_t take(struct reader *r)
{
    struct array batch = {0};
    if (!discreet_take(r, &batch))
        exit(1);
    unsigned sum = 0;
    for (int64_t i = 0; i < batch.n_children; i++) {
        const struct array *column = batch.children[i];
        const int32_t *ends = column->buffers[1];
        const uint8_t *text = column->buffers[2], *valid = column->buffers[0];
        if (column->length != batch.length || ends[0] != 0)
            exit(2);
        int64_t nulls = 0;
        for (int64_t j = 0; j < column->length; j++) {
            if (ends[j] > ends[j + 1])
                exit(3);
            nulls += valid != NULL && !(valid[j / 8] >> j % 8 & 1);
            for (int32_t k = ends[j]; k < ends[j + 1]; k++)
                sum += text[k];
        }
        if (nulls != column->null_count)
            exit(4);
    }
    size_t records = (size_t)batch.length + (sum == UINT32_MAX);
    batch.release(&batch);
    return records;
}

int main(int argc, char **argv)
{
    (void)argc;
    size_t inputs = (size_t)atol(argv[1]), records = 0;
    state = 88172645463325252u + (uint64_t)atol(argv[2]);
    for (size_t i = 0; i < inputs; i++) {
        uint8_t all[4096];
        size_t n = write_bytes(all), at = 0;
        struct reader *r = open_any(1 + below(6));
        while (at < n) {
            size_t size = 1 + below(130);
            size = size < n - at ? size : n - at;
            uint8_t *block = malloc(size); /* of its very size: what is behind it is not ours */
            memcpy(block, all + at, size);
            for (size_t read = 0; read < size;) {
                read += (size_t)discreet_read(r, block + read, size - read);
                if (discreet_records(r))
                    records += take(r);
            }
            free(block);
            at += size;
        }
        if (below(16) && discreet_end(r) && discreet_records(r))
            records += take(r);
        discreet_close(r);
    }
    printf("%zu\n", records);
    return 0;
}
