/* The records of text files: exactly those that Python's csv makes of the decoded bytes, as batches of Arrow.

   docs/explanation/text_files.md has the rules and why bytes may be split before they are decoded. A reader keeps its state
   from one block of bytes to the next, so a record may be longer than a block. Only the wanted cells are kept, and of one
   that cannot be read nothing. Without this file csv itself reads: `csv_records.py`. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#ifndef DISCREET_SOURCE
#define DISCREET_SOURCE 0
#endif

#define LONGEST_CELL ((size_t)1 << 24) /* in bytes of UTF-8; a longer one is unreadable */
#define SPANS (UINT64_MAX - 1)         /* the place of 1 if the record spans several lines, which no cell has */
#define COMMENTS (UINT64_MAX - 2)      /* that of 1 if it is a line of a comment: with it such a line is a record without cells */
#define SLACK 16                       /* short runs are copied by whole words */

/* Arrow's C data interface. */
struct array {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct array **children, *dictionary;
    void (*release)(struct array *);
    void *private_data;
};

/* The cells of a wanted column: those of all records that ended, and perhaps that of the one that is being read. */
struct column {
    uint8_t *text, *valid;
    int32_t *ends; /* of cell i in ends[i + 1] */
    size_t used, room, cells, cell_room, nulls;
};

enum state { RECORD, FIELD, PLAIN, QUOTED, AFTER_QUOTE, ESCAPED, ESCAPED_IN_QUOTES, COMMENT };

/* The signs of a form, as ASCII; one below 0 there is not. */
struct signs {
    int delimiter, quote, escape, comment, multiline, skips_blanks;
};

struct reader {
    struct column *columns;
    uint64_t *places; /* of the wanted fields, ascending */
    size_t n;
    struct signs signs;
    int has_table;
    uint8_t table[256][4]; /* the length of the text of a byte, 0 if it has none, and the text */
    uint8_t stops[256];    /* what ends a run outside quotes */
    enum state state;
    uint64_t field;      /* the place of the cell that is being read */
    size_t slot;         /* the next wanted one */
    int unreadable;      /* the cell that is being read is */
    unsigned left;       /* how many bytes the character lacks that is being read */
    uint8_t low, high;   /* of which the next one must be */
    uint32_t point;      /* what the bytes so far spell */
    int counts_lines, spans; /* whether it is asked if a record spans several lines, and whether this one does */
    int counts_comments, is_comment; /* the same of lines of comments */
    uint64_t skip;       /* how many records are none: the header */
    size_t records, most;
};

static int is_wanted(const struct reader *r)
{
    return r->slot < r->n && r->places[r->slot] == r->field;
}

static int make_room(struct column *c, size_t more)
{
    if (c->room - c->used >= more)
        return 1;
    size_t room = c->used + more + c->used / 2;
    uint8_t *text = realloc(c->text, room);
    if (text == NULL)
        return 0;
    c->text = text, c->room = room;
    return 1;
}

/* Make room for one more cell. */
static int make_cell_room(struct column *c)
{
    if (c->cells < c->cell_room)
        return 1;
    size_t room = c->cell_room ? 2 * c->cell_room : 1024;
    int32_t *ends = realloc(c->ends, (room + 1) * sizeof *ends);
    if (ends == NULL)
        return 0;
    c->ends = ends;
    uint8_t *valid = realloc(c->valid, room / 8);
    if (valid == NULL)
        return 0;
    c->valid = valid, c->cell_room = room;
    c->ends[0] = 0;
    return 1;
}

static size_t begin_of_cell(const struct column *c)
{
    return c->cells ? (size_t)c->ends[c->cells] : 0;
}

/* The characters of UTF-8 are in the ranges of Unicode's table 3-7: no surrogate, none beyond U+10FFFF, the shortest form. */
static void check_utf8(struct reader *r, const uint8_t *from, const uint8_t *to)
{
    for (; from < to; from++) {
        uint8_t c = *from;
        if (r->left) {
            if (c < r->low || c > r->high) {
                r->unreadable = 1;
                return;
            }
            r->point = r->point << 6 | (c & 0x3F);
            r->low = 0x80, r->high = 0xBF;
            if (--r->left == 0 && r->point == 0xFFFD)
                r->unreadable = 1;
        } else if (c >= 0x80) {
            if (c < 0xC2 || c > 0xF4) {
                r->unreadable = 1;
                return;
            }
            r->left = 1u + (c >= 0xE0) + (c >= 0xF0);
            r->point = c & (0x3F >> r->left);
            r->low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
            r->high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
        }
    }
}

/* A sign that is no part of the cell, or the end of the cell: a character that was begun stays incomplete. */
static void end_run(struct reader *r)
{
    if (r->left)
        r->unreadable = 1;
    r->left = 0;
}

static void append_by_table(struct reader *r, struct column *c, const uint8_t *from, const uint8_t *to)
{
    uint8_t *at = c->text + c->used;
    for (; from < to; from++) {
        const uint8_t *entry = r->table[*from];
        if (entry[0] == 0) {
            r->unreadable = 1;
            return;
        }
        memcpy(at, entry + 1, 3);
        at += entry[0];
    }
    c->used = (size_t)(at - c->text);
}

/* Add a run of bytes to the wanted cell; `seen` has the high bit if a byte of them has it, and `end` is that of the block. */
static int append(struct reader *r, const uint8_t *from, const uint8_t *to, uint8_t seen, const uint8_t *end)
{
    struct column *c = r->columns + r->slot;
    size_t size = (size_t)(to - from);
    int plain = seen < 0x80 && r->left == 0;
    if (size == 0 || r->unreadable)
        return 1;
    if (!plain && !r->has_table)
        check_utf8(r, from, to);
    if (!make_room(c, (plain || !r->has_table ? size : 3 * size) + SLACK))
        return 0;
    if (!plain && r->has_table) {
        append_by_table(r, c, from, to);
    } else {
        if (size <= SLACK && end - from >= SLACK)
            memcpy(c->text + c->used, from, SLACK);
        else
            memcpy(c->text + c->used, from, size);
        c->used += size;
    }
    if (c->used - begin_of_cell(c) > LONGEST_CELL)
        r->unreadable = 1;
    if (r->unreadable)
        c->used = begin_of_cell(c);
    return 1;
}

/* Put the end of a cell into a column. */
static int push(struct column *c, int unreadable)
{
    if (!make_cell_room(c))
        return 0;
    size_t i = c->cells++;
    c->ends[c->cells] = (int32_t)c->used;
    if (i % 8 == 0)
        c->valid[i / 8] = 0;
    c->valid[i / 8] |= (uint8_t)(!unreadable << i % 8);
    c->nulls += (size_t)unreadable;
    return 1;
}

static int end_cell(struct reader *r)
{
    if (is_wanted(r)) {
        struct column *c = r->columns + r->slot;
        end_run(r);
        if (r->unreadable)
            c->used = begin_of_cell(c);
        if (!push(c, r->unreadable))
            return 0;
        r->unreadable = 0;
        r->slot++;
    }
    r->field++;
    return 1;
}

static int end_record(struct reader *r)
{
    if (!end_cell(r))
        return 0;
    for (; r->slot < r->n; r->slot++) { /* cells that it lacks are empty */
        struct column *c = r->columns + r->slot;
        if ((r->spans && r->places[r->slot] == SPANS) || (r->is_comment && r->places[r->slot] == COMMENTS)) {
            if (!make_room(c, 1))
                return 0;
            c->text[c->used++] = '1';
        }
        if (!push(c, 0))
            return 0;
    }
    r->state = RECORD, r->field = 0, r->slot = 0, r->spans = 0, r->is_comment = 0;
    if (r->skip == 0) {
        r->records++;
        return 1;
    }
    r->skip--; /* it is the first of its batch */
    for (size_t i = 0; i < r->n; i++)
        r->columns[i].used = r->columns[i].cells = r->columns[i].nulls = 0;
    return 1;
}

/* 64 bytes of a block: which of them end a run outside quotes, and whether one has the high bit. */
struct window {
    const uint8_t *from, *end;
    uint64_t stops;
    uint8_t seen;
};

static void look(const struct reader *r, struct window *w, const uint8_t *from)
{
    uint8_t rest[64] = {0};
    const uint8_t *p = from;
    if (w->end - from < 64) {
        memcpy(rest, from, (size_t)(w->end - from));
        p = rest;
    }
    w->from = from, w->stops = 0, w->seen = 0;
#ifdef __SSE2__
    const __m128i feed = _mm_set1_epi8('\n'), back = _mm_set1_epi8('\r');
    const __m128i delimiter = _mm_set1_epi8((char)(r->signs.delimiter < 0 ? '\n' : r->signs.delimiter));
    const __m128i escape = _mm_set1_epi8((char)(r->signs.escape < 0 ? '\n' : r->signs.escape));
    for (int i = 0; i < 4; i++) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        __m128i ends = _mm_or_si128(_mm_cmpeq_epi8(bytes, feed), _mm_cmpeq_epi8(bytes, back));
        ends = _mm_or_si128(ends, _mm_or_si128(_mm_cmpeq_epi8(bytes, delimiter), _mm_cmpeq_epi8(bytes, escape)));
        w->stops |= (uint64_t)(unsigned)_mm_movemask_epi8(ends) << 16 * i;
        w->seen |= (uint8_t)(_mm_movemask_epi8(bytes) ? 0x80 : 0);
    }
#else
    for (int i = 0; i < 64; i++) {
        w->stops |= (uint64_t)r->stops[p[i]] << i;
        w->seen |= p[i];
    }
#endif
}

/* Return where a run outside quotes ends, or the block does; `seen` has the high bit if a byte on the way may have it. */
static const uint8_t *find_stop(const struct reader *r, struct window *w, const uint8_t *p, uint8_t *seen)
{
    if (p - w->from >= 64)
        look(r, w, p);
    uint64_t stops = w->stops & ~(uint64_t)0 << (p - w->from);
    *seen = w->seen;
    while (stops == 0) {
        if (w->end - w->from <= 64)
            return w->end;
        look(r, w, w->from + 64);
        stops = w->stops;
        *seen |= w->seen;
    }
    return w->from + __builtin_ctzll(stops);
}

static const uint8_t *begin_escape(struct reader *r, const uint8_t *p, enum state state)
{
    end_run(r);
    r->state = state;
    return p + 1;
}

/* Return whether what begins with this byte is more than a cell outside quotes: the state is RECORD or FIELD. */
static int is_special(const struct reader *r, uint8_t byte)
{
    if (byte == r->signs.quote || (byte == ' ' && r->signs.skips_blanks))
        return 1;
    return r->state == RECORD && (byte == '\n' || byte == '\r' || byte == r->signs.comment || r->records == r->most);
}

/* Read cells outside quotes, from the middle of one, up to one that is not, or to the end of the block or the batch. */
static const uint8_t *read_plain(struct reader *r, const uint8_t *p, struct window *w)
{
    uint8_t seen;
    for (;;) {
        const uint8_t *from = p;
        p = find_stop(r, w, p, &seen);
        if (is_wanted(r) && !append(r, from, p, seen, w->end))
            return NULL;
        r->state = PLAIN;
        if (p == w->end)
            return p;
        if (*p == r->signs.escape)
            return begin_escape(r, p, ESCAPED);
        if (*p == r->signs.delimiter) {
            r->state = FIELD;
            if (!end_cell(r))
                return NULL;
        } else if (!end_record(r)) {
            return NULL;
        }
        p++;
        if (p == w->end || is_special(r, *p))
            return p;
    }
}

/* Read a run inside quotes and what ends it. */
static const uint8_t *read_quoted(struct reader *r, const uint8_t *p, const uint8_t *end)
{
    const uint8_t *from = p;
    uint8_t seen = 0;
    while (p < end && *p != r->signs.quote && *p != r->signs.escape && (r->signs.multiline || (*p != '\n' && *p != '\r')))
        seen |= *p++;
    size_t size = (size_t)(p - from);
    if (r->counts_lines && !r->spans && (memchr(from, '\n', size) != NULL || memchr(from, '\r', size) != NULL))
        r->spans = 1; /* whether the cell is wanted or not */
    if (is_wanted(r) && !append(r, from, p, seen, end))
        return NULL;
    if (p == end)
        return p;
    if (*p == r->signs.escape)
        return begin_escape(r, p, ESCAPED_IN_QUOTES);
    if (*p != r->signs.quote)
        return end_record(r) ? p + 1 : NULL;
    end_run(r);
    r->state = r->signs.escape < 0 ? AFTER_QUOTE : PLAIN; /* with an escape two quotes are none */
    return p + 1;
}

/* Read the byte behind an escape as it is. The end of a line, or of the file, is a feed where a line is a record. */
static int read_escaped(struct reader *r, const uint8_t *p, const uint8_t *end)
{
    static const uint8_t feed = '\n';
    int is_end = p == end || *p == '\n' || *p == '\r';
    const uint8_t *from = p == end || (is_end && !r->signs.multiline) ? &feed : p;
    r->spans |= is_end && r->counts_lines;
    if (is_wanted(r) && !append(r, from, from + 1, *from, from == p ? end : from + 1))
        return 0;
    if (is_end && !r->signs.multiline)
        return end_record(r);
    r->state = r->state == ESCAPED ? PLAIN : QUOTED;
    return 1;
}

static int end_comment(struct reader *r)
{
    r->state = RECORD;
    if (!r->counts_comments || r->skip)
        return 1;
    r->is_comment = 1;
    return end_record(r);
}

/* Read a line of a comment, which only its end ends. */
static const uint8_t *read_comment(struct reader *r, const uint8_t *p, const uint8_t *end)
{
    r->state = COMMENT;
    while (p < end && *p != '\n' && *p != '\r')
        p++;
    if (p == end)
        return p;
    return end_comment(r) ? p + 1 : NULL;
}

static const uint8_t *read_some(struct reader *r, const uint8_t *p, struct window *w)
{
    switch (r->state) {
    case RECORD:
        if (*p == '\n' || *p == '\r') /* an empty line is no record, nor what is between a return and its feed */
            return p + 1;
        if (*p == r->signs.comment)
            return read_comment(r, p, w->end);
        /* fall through */
    case FIELD:
        r->state = FIELD;
        if (*p == ' ' && r->signs.skips_blanks)
            return p + 1;
        if (*p != r->signs.quote)
            return read_plain(r, p, w);
        r->state = QUOTED;
        return p + 1;
    case AFTER_QUOTE:
        if (*p != r->signs.quote)
            return read_plain(r, p, w);
        r->state = QUOTED; /* two are one */
        return !is_wanted(r) || append(r, p, p + 1, 0, w->end) ? p + 1 : NULL;
    case QUOTED:
        return read_quoted(r, p, w->end);
    case ESCAPED:
    case ESCAPED_IN_QUOTES:
        return read_escaped(r, p, w->end) ? p + 1 : NULL;
    case COMMENT:
        return read_comment(r, p, w->end);
    default:
        return read_plain(r, p, w);
    }
}

EXPORT void discreet_close(struct reader *r)
{
    for (size_t i = 0; r != NULL && i < r->n; i++) {
        free(r->columns[i].text);
        free(r->columns[i].ends);
        free(r->columns[i].valid);
    }
    if (r != NULL) {
        free(r->columns);
        free(r->places);
    }
    free(r);
}

/* Return a reader, or NULL if memory is short. Without a table bytes are UTF-8. */
EXPORT struct reader *discreet_open(
    const struct signs *signs, const uint8_t *table, const uint64_t *places, size_t n, uint64_t skip, size_t most)
{
    struct reader *r = calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->columns = calloc(n ? n : 1, sizeof *r->columns);
    r->places = calloc(n ? n : 1, sizeof *r->places);
    if (r->columns == NULL || r->places == NULL) {
        discreet_close(r);
        return NULL;
    }
    memcpy(r->places, places, n * sizeof *places);
    r->n = n, r->skip = skip, r->most = most;
    for (size_t i = 0; i < n; i++)
        r->counts_lines |= places[i] == SPANS, r->counts_comments |= places[i] == COMMENTS;
    r->signs = *signs;
    r->has_table = table != NULL;
    if (table != NULL)
        memcpy(r->table, table, sizeof r->table);
    r->stops['\n'] = r->stops['\r'] = 1;
    if (signs->delimiter >= 0)
        r->stops[signs->delimiter] = 1;
    if (signs->escape >= 0)
        r->stops[signs->escape] = 1;
    return r;
}

/* Read bytes until the batch is full; return how many were read, or -1 if memory is short. */
EXPORT int64_t discreet_read(struct reader *r, const uint8_t *bytes, size_t size)
{
    const uint8_t *p = bytes;
    struct window w = {.end = bytes + size};
    if (size)
        look(r, &w, p);
    while (p < w.end && r->records < r->most) {
        p = read_some(r, p, &w);
        if (p == NULL)
            return -1;
    }
    return p - bytes;
}

/* End the last record, as no byte comes any more; return whether memory sufficed. */
EXPORT int discreet_end(struct reader *r)
{
    static const uint8_t none = 0;
    if (r->state == COMMENT)
        return end_comment(r);
    if ((r->state == ESCAPED || r->state == ESCAPED_IN_QUOTES) && !read_escaped(r, &none, &none))
        return 0;
    return r->state == RECORD || end_record(r);
}

/* Return how many records are in the batch. */
EXPORT size_t discreet_records(const struct reader *r)
{
    return r->records;
}

static void release_column(struct array *a)
{
    for (int i = 0; i < 3; i++)
        free((void *)a->buffers[i]);
    free(a->buffers);
    a->release = NULL;
}

static void release_batch(struct array *a)
{
    for (int64_t i = 0; i < a->n_children; i++)
        if (a->children[i]->release != NULL) /* it was not moved elsewhere */
            a->children[i]->release(a->children[i]);
    free(a->private_data);
    a->release = NULL;
}

/* Make an array of the cells of all records that ended, and leave the rest in the column. */
static int take_column(struct column *c, size_t records, struct array *out)
{
    size_t more = c->cells - records, used = (size_t)c->ends[records];
    struct column rest = {.used = 0};
    const void **buffers = calloc(3, sizeof *buffers);
    if (buffers == NULL)
        return 0;
    if (!make_room(c, 1) /* there is a buffer, also of no text */
        || !make_room(&rest, (c->used - used > c->room / 2 ? c->used - used : c->room / 2) + SLACK)
        || !make_cell_room(&rest)) {
        free(rest.text), free(rest.ends), free(rest.valid), free(buffers);
        return 0;
    }
    memcpy(rest.text, c->text + used, c->used - used);
    rest.used = (size_t)c->ends[c->cells] - used; /* of the cell that has ended */
    if (more)
        push(&rest, !(c->valid[records / 8] >> records % 8 & 1));
    rest.used = c->used - used;
    buffers[0] = c->nulls > rest.nulls ? c->valid : NULL;
    if (buffers[0] == NULL)
        free(c->valid);
    buffers[1] = c->ends, buffers[2] = c->text;
    *out = (struct array){.length = (int64_t)records, .null_count = (int64_t)(c->nulls - rest.nulls), .n_buffers = 3,
                          .buffers = buffers, .release = release_column};
    *c = rest;
    return 1;
}

/* Move the records that ended into an array of Arrow; there is one at least. Return whether memory sufficed. */
EXPORT int discreet_take(struct reader *r, struct array *out)
{
    struct batch {
        const void *none;
        struct array *children[];
    } *batch = malloc(sizeof *batch + r->n * (sizeof(struct array *) + sizeof(struct array)));
    if (batch == NULL)
        return 0;
    struct array *arrays = (struct array *)(batch->children + r->n);
    batch->none = NULL;
    *out = (struct array){.length = (int64_t)r->records, .n_buffers = 1, .buffers = &batch->none,
                          .children = batch->children, .private_data = batch, .release = release_batch};
    for (size_t i = 0; i < r->n; i++) {
        batch->children[i] = arrays + i;
        if (!take_column(r->columns + i, r->records, arrays + i)) {
            release_batch(out);
            return 0;
        }
        out->n_children++;
    }
    r->records = 0;
    return 1;
}

/* Where in an array of JSON the next byte is; as in json_arrays.py. */
struct array_place {
    uint64_t depth; /* brackets that are open within the element */
    int32_t is_open, in_string, escaped, begun; /* the array; the bytes; the next one; the element */
};

/* Turn elements of an array into lines, in place: ends of elements are ends of lines, and no others are left. */
EXPORT void discreet_elements(struct array_place *at, uint8_t *bytes, size_t size)
{
    struct array_place a = *at;
    for (size_t i = 0; i < size; i++) {
        uint8_t c = bytes[i];
        if (a.in_string) {
            a.in_string = a.escaped || c != '"';
            a.escaped = !a.escaped && c == '\\';
            if (c == '\n' || c == '\r')
                bytes[i] = 0x1F; /* it is no JSON, and stays none */
        } else if (c == '\n' || c == '\r' || c == ' ' || c == '\t') {
            bytes[i] = a.begun ? ' ' : '\n';
        } else if (a.depth == 0 && (c == ',' || c == ']' || (c == '[' && !a.is_open))) {
            bytes[i] = '\n';
            a.begun = 0, a.is_open = 1;
        } else {
            a.begun = 1;
            a.in_string = c == '"';
            if (c == '{' || c == '[')
                a.depth++;
            else if ((c == '}' || c == ']') && a.depth)
                a.depth--;
        }
    }
    *at = a;
}

/* Return the beginning of the digest of this text. */
EXPORT uint64_t discreet_source(void)
{
    return DISCREET_SOURCE;
}
