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
    "0", "12", "345", ".", "(", ")", "-", "+", "%", "kg", " ", "\xe2\x88\x92", "\xe2\x80\x99", "1.234.567", "29.2.2024", "31", "2024",
    "45292.5", "60", "99999999999999999999999999999999999999999999999999", "PM", "Z", "+01:00", "1.2.2024 9:05 PM",
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

/* Forms of cells as Python writes them: numbers, dates, days of Excel. */
static const struct {
    const char *bytes;
    size_t size;
} FORMS[] = {
    {"\0\0\0\0n,.\0\1\2\0kg", 13}, {"\0\0\0\0n.'\1\0", 9}, {"\3\0\0\0\1\0-n, \0\0\2\0kg\1\0k", 19}, {"\0\0\0\0dd\1L.m\1L.Y\4", 15},
    {"\7\0\0\0\1\0a\2\0" "31dY\4m\2d\2", 18}, {"\0\0\0\0dd\1L.m\1L.y\2L I\1L:M\2L p\2", 25},
    {"\0\0\0\0dY\4L-m\1L-d\1LTH\1L:M\2L:S\2L.f\2z\2", 33}, {"\0\0\0\0e,.\0\0", 9}, {"\0\0\0\0f.\0\0\0", 9},
};

static void give_forms(struct reader *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned form = below(2 * sizeof FORMS / sizeof *FORMS);
        if (form < sizeof FORMS / sizeof *FORMS
            && !discreet_form(r, i, (const uint8_t *)FORMS[form].bytes, FORMS[form].size))
            exit(5);
    }
}

static struct reader *open_any(size_t n)
{
    static const uint64_t any_places[][6] = {
        {0, 1, 3, UINT64_MAX - 2, UINT64_MAX - 1, UINT64_MAX}, {0, 0, 0, 1, 1, UINT64_MAX - 2}};
    const uint64_t *places = any_places[below(2)];
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
    struct reader *r = discreet_open(&signs, below(2) ? &table[0][0] : NULL, places, n, below(3), 1 + below(4));
    give_forms(r, n);
    return r;
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
