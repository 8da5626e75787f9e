/* The records of text files: exactly those that Python's csv makes of the decoded bytes, as batches of Arrow.

   docs/how-to/files.md#the-form-of-a-file has the rules and why bytes may be split before they are decoded. A reader keeps its state
   from one block of bytes to the next, so a record may be longer than a block. Only the wanted cells are kept, and of one
   that cannot be read nothing. A column may have a form: what its cells spell is kept in place of their texts, exactly as
   `number_texts.py` and `date_texts.py` say. Without this file csv itself reads: `text_records.py`. */

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
#define NO_TEXT '?'                    /* in place of a cell that spells nothing in its form */
#define MORE 40                        /* so many bytes longer than its cell is the longest number or date */
#define DAY_MS 86400000

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

/* How the cells of a column spell numbers or dates, as the forms in Python write it. */
struct form {
    uint8_t kind;               /* 0: none; 'n': numbers; 'd': dates; 'e', 'f': days of Excel from 1900, from 1904 */
    uint8_t decimal, thousands; /* signs; no thousands: 0 */
    uint8_t percent, parentheses;
    uint8_t *missing; /* texts that stand for a missing cell, each behind its length in two bytes */
    size_t missing_size;
    uint8_t *rest; /* of numbers the units, longest first, each behind its length in two bytes; of dates pairs of bytes */
    size_t size;
};

struct reader {
    struct column *columns;
    struct form *forms;
    uint64_t *places; /* of the wanted fields, ascending; one that is wanted in several forms is there several times */
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

/* A text that is read from its beginning. */
struct text {
    const uint8_t *p, *end;
};

static int is_digit(const struct text *t, size_t at)
{
    return (size_t)(t->end - t->p) > at && t->p[at] >= '0' && t->p[at] <= '9';
}

static int begins_with(const struct text *t, const void *bytes, size_t size)
{
    return (size_t)(t->end - t->p) >= size && memcmp(t->p, bytes, size) == 0;
}

static int take_bytes(struct text *t, const void *bytes, size_t size)
{
    int is_there = begins_with(t, bytes, size);
    t->p += is_there ? size : 0;
    return is_there;
}

/* Return the length of the blank that comes next: U+0020, U+00A0, U+2009 or U+202F. */
static size_t blank_size(const struct text *t)
{
    if (begins_with(t, " ", 1))
        return 1;
    if (begins_with(t, "\xC2\xA0", 2))
        return 2;
    return begins_with(t, "\xE2\x80\x89", 3) || begins_with(t, "\xE2\x80\xAF", 3) ? 3 : 0;
}

static void skip_blanks(struct text *t)
{
    for (size_t size = blank_size(t); size; size = blank_size(t))
        t->p += size;
}

/* Take a sign or the opening parenthesis: return 0, or one of "+-(". */
static int take_sign(struct text *t, const struct form *f)
{
    if (take_bytes(t, "+", 1))
        return '+';
    if (take_bytes(t, "-", 1) || take_bytes(t, "\xE2\x88\x92", 3))
        return '-';
    return f->parentheses && take_bytes(t, "(", 1) ? '(' : 0;
}

static int take_unit(struct text *t, const struct form *f)
{
    for (size_t at = 0; at + 2 <= f->size;) {
        size_t size = f->rest[at] | (size_t)f->rest[at + 1] << 8;
        if (take_bytes(t, f->rest + at + 2, size))
            return 1;
        at += 2 + size;
    }
    return 0;
}

/* Return the length of the sign between groups that comes next. */
static size_t group_sign_size(const struct text *t, const struct form *f)
{
    if (f->thousands == ' ')
        return blank_size(t);
    if (f->thousands && begins_with(t, &f->thousands, 1))
        return 1;
    return f->thousands == '\'' && begins_with(t, "\xE2\x80\x99", 3) ? 3 : 0;
}

/* Digits of a number: `whole` of them before the decimal sign, no 0 first, and `fraction` behind it. */
struct digits {
    uint8_t *at;
    size_t whole, fraction;
};

static void take_digit(struct text *t, struct digits *d)
{
    if (d->whole || *t->p != '0')
        d->at[d->whole++] = *t->p;
    t->p++;
}

/* Take the digits of a number with the signs between them; return whether there are any. */
static int take_digits(struct text *t, const struct form *f, struct digits *d)
{
    const uint8_t *from = t->p;
    while (is_digit(t, 0))
        take_digit(t, d);
    size_t size = (size_t)(t->p - from);
    if (size && size <= 3 && *from != '0')
        for (;;) {
            size_t sign = group_sign_size(t, f);
            if (!sign || !is_digit(t, sign) || !is_digit(t, sign + 1) || !is_digit(t, sign + 2) || is_digit(t, sign + 3))
                break;
            t->p += sign;
            for (int i = 0; i < 3; i++)
                take_digit(t, d);
        }
    if (!begins_with(t, &f->decimal, 1) || !is_digit(t, 1))
        return size > 0;
    for (t->p++; is_digit(t, 0); t->p++)
        d->at[d->whole + d->fraction++] = *t->p;
    return 1;
}

/* Write a number in plain digits, its decimal sign `shift` places to the left; return its length. */
static size_t write_number(uint8_t *out, struct digits d, size_t shift, int is_negative)
{
    for (; d.whole < shift; d.whole++, d.at--)
        d.at[-1] = '0';
    d.whole -= shift, d.fraction += shift;
    while (d.whole && *d.at == '0')
        d.whole--, d.at++;
    while (d.fraction && d.at[d.whole + d.fraction - 1] == '0')
        d.fraction--;
    size_t size = 0;
    if (is_negative && d.whole + d.fraction)
        out[size++] = '-';
    if (d.whole == 0)
        out[size++] = '0';
    memmove(out + size, d.at, d.whole); /* the digits are behind */
    size += d.whole;
    if (d.fraction) {
        out[size++] = '.';
        memmove(out + size, d.at + d.whole, d.fraction);
    }
    return size + d.fraction;
}

/* Write the number that a text spells; return its length, 0 for none. */
static size_t spell_any_number(const struct form *f, struct text t, uint8_t *out)
{
    struct digits d = {.at = out + 8};
    skip_blanks(&t);
    int sign = take_sign(&t, f);
    skip_blanks(&t);
    int has_unit = take_unit(&t, f);
    skip_blanks(&t);
    if (!sign)
        sign = take_sign(&t, f);
    skip_blanks(&t);
    if (!take_digits(&t, f, &d))
        return 0;
    skip_blanks(&t);
    if (f->percent && !take_bytes(&t, "%", 1))
        return 0;
    skip_blanks(&t);
    int is_open = sign == '(' && !take_bytes(&t, ")", 1);
    skip_blanks(&t);
    if (!has_unit)
        take_unit(&t, f);
    skip_blanks(&t);
    if (is_open && !take_bytes(&t, ")", 1))
        return 0;
    skip_blanks(&t);
    return t.p == t.end ? write_number(out, d, f->percent ? 2 : 0, sign == '-' || sign == '(') : 0;
}

/* Copy digits from `p` on; return the place behind them. */
static const uint8_t *copy_digits(const uint8_t *p, const uint8_t *end, uint8_t **out)
{
    uint8_t *at = *out;
    for (; p < end && (uint8_t)(*p - '0') < 10; p++)
        *at++ = *p;
    *out = at;
    return p;
}

/* Write the number that a text spells as most do: a minus or none, digits, signs between groups, and a fraction.
   Return its length; 0 for all other texts, which `spell_any_number` reads. */
static size_t spell_usual(const struct form *f, struct text t, uint8_t *out)
{
    uint8_t *at = out;
    const uint8_t *p = t.p, *end = t.end;
    if (p < end && *p == '-')
        *at++ = *p++;
    const uint8_t *first = p;
    p = copy_digits(p, end, &at);
    if (p == first || (*first == '0' && p - first > 1))
        return 0;
    if (p - first <= 3 && *first != '0' && f->thousands)
        while (p < end && *p == f->thousands) {
            const uint8_t *group = p + 1;
            p = copy_digits(group, end, &at);
            if (p - group != 3)
                return 0;
        }
    if (p < end && *p == f->decimal) {
        const uint8_t *fraction = ++p;
        *at++ = '.';
        p = copy_digits(p, end, &at);
        if (p == fraction)
            return 0;
        while (at[-1] == '0')
            at--;
        at -= at[-1] == '.';
    }
    int is_minus_zero = at - out == 2 && at[-1] == '0' && *out == '-';
    return p == end && !is_minus_zero ? (size_t)(at - out) : 0;
}

/* Write the number that a text spells; return its length, 0 for none. */
static size_t spell_number(const struct form *f, struct text t, uint8_t *out)
{
    size_t size = f->percent ? 0 : spell_usual(f, t, out);
    return size ? size : spell_any_number(f, t, out);
}

/* A moment in parts; -1 where there is none. */
struct moment {
    int year, month, day, hour, minute, second, micros, half, offset; /* half: 0 for AM, 1 for PM; offset in minutes */
    int has_time, has_12, has_micros, has_offset;
};

static uint8_t *write_digits(uint8_t *at, int value, int digits)
{
    for (int i = digits; i--; value /= 10)
        at[i] = (uint8_t)('0' + value % 10);
    return at + digits;
}

static int days_of_month(int year, int month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && is_leap);
}

static size_t write_moment(uint8_t *out, const struct moment *m)
{
    if (m->year < 1 || m->year > 9999 || m->month < 1 || m->month > 12 || m->day < 1
        || m->day > days_of_month(m->year, m->month) || m->hour > 23 || m->minute > 59 || m->second > 59)
        return 0;
    uint8_t *at = write_digits(out, m->year, 4);
    *at++ = '-', at = write_digits(at, m->month, 2);
    *at++ = '-', at = write_digits(at, m->day, 2);
    if (!m->has_time)
        return (size_t)(at - out);
    *at++ = 'T', at = write_digits(at, m->hour, 2);
    *at++ = ':', at = write_digits(at, m->minute, 2);
    *at++ = ':', at = write_digits(at, m->second, 2);
    if (m->has_micros)
        *at++ = '.', at = write_digits(at, m->micros, 6);
    if (m->has_offset) {
        int minutes = m->offset < 0 ? -m->offset : m->offset;
        *at++ = m->offset < 0 ? '-' : '+', at = write_digits(at, minutes / 60, 2);
        *at++ = ':', at = write_digits(at, minutes % 60, 2);
    }
    return (size_t)(at - out);
}

/* Take from `least` to `most` digits; return the number, -1 for none. */
static int take_int(struct text *t, int least, int most)
{
    int value = 0, i = 0;
    for (; i < most && is_digit(t, 0); i++)
        value = 10 * value + *t->p++ - '0';
    return i < least ? -1 : value;
}

/* Take Z, or hours and minutes with a sign. */
static int take_offset(struct text *t, int *offset)
{
    if (take_bytes(t, "Z", 1))
        return 1;
    int is_minus = begins_with(t, "-", 1);
    if (!is_minus && !begins_with(t, "+", 1))
        return 0;
    t->p++;
    int hours = take_int(t, 2, 2);
    take_bytes(t, ":", 1);
    int minutes = take_int(t, 2, 2);
    *offset = (is_minus ? -1 : 1) * (60 * hours + minutes);
    return hours >= 0 && hours <= 23 && minutes >= 0 && minutes <= 59;
}

static int take_micros(struct text *t, int *micros)
{
    const uint8_t *from = t->p;
    *micros = take_int(t, 1, 6);
    for (int64_t i = t->p - from; i < 6; i++)
        *micros *= 10;
    return t->p > from;
}

/* Take AM or PM, or both small. */
static int take_half(struct text *t, int *half)
{
    *half = begins_with(t, "PM", 2) || begins_with(t, "pm", 2);
    return take_bytes(t, "AM", 2) || take_bytes(t, "am", 2) || take_bytes(t, "PM", 2) || take_bytes(t, "pm", 2);
}

/* Take a part of a date by its letter, or a sign; return whether it is there. */
static int take_part(struct text *t, uint8_t letter, uint8_t of, struct moment *m)
{
    int *part = letter == 'd' ? &m->day : letter == 'm' ? &m->month : letter == 'M' ? &m->minute : letter == 'S' ? &m->second
              : letter == 'H' || letter == 'I' ? &m->hour : &m->year;
    switch (letter) {
    case 'L':
        return take_bytes(t, &of, 1);
    case 'f':
        m->has_micros = 1;
        return take_micros(t, &m->micros);
    case 'p':
        return take_half(t, &m->half);
    case 'z':
        m->has_offset = 1;
        return take_offset(t, &m->offset);
    case 'y':
        m->year = take_int(t, 2, 2);
        m->year += m->year < 0 ? -9999 : m->year < 69 ? 2000 : 1900;
        return 1;
    case 'H':
    case 'I':
        m->has_time = 1, m->has_12 = letter == 'I';
        /* fall through */
    default:
        *part = take_int(t, of, letter == 'Y' ? 4 : 2);
        return *part >= 0;
    }
}

/* Write the date that a text spells; return its length, 0 for none. */
static size_t spell_date(const struct form *f, struct text t, uint8_t *out)
{
    struct moment m = {.year = 0};
    for (size_t i = 0; i + 2 <= f->size; i += 2)
        if (!take_part(&t, f->rest[i], f->rest[i + 1], &m))
            return 0;
    if (t.p != t.end || (m.has_12 && (m.hour < 1 || m.hour > 12)))
        return 0;
    if (m.has_12)
        m.hour = m.hour % 12 + 12 * m.half;
    return write_moment(out, &m);
}

/* Put the date that is so many days after 1970-01-01 into a moment: Howard Hinnant's civil_from_days. */
static void put_day(struct moment *m, int64_t days)
{
    int64_t since = days + 719468, era = since / 146097; /* from 0000-03-01, and no day here is before it */
    int of_era = (int)(since % 146097);
    int year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
    m->day = of_year - (153 * month + 2) / 5 + 1;
    m->month = month < 10 ? month + 3 : month - 9;
    m->year = (int)(era * 400 + year + (m->month <= 2));
}

/* Write the date of a day of Excel in plain digits; return its length, 0 for none. */
static size_t write_serial(const struct form *f, struct text t, uint8_t *out)
{
    struct moment m = {.year = 0};
    int day = take_int(&t, 1, 7); /* of a negative one the sign is left */
    const uint8_t *from = t.p + 1;
    if (day < 0 || (t.p != t.end && *t.p != '.') || (f->kind == 'e' && (day < 1 || day == 60)))
        return 0;
    int64_t whole = 0, tenth = 0; /* of the fraction in milliseconds, by long multiplication from its last digit on */
    for (const uint8_t *p = t.end; p > from; p--) {
        int64_t product = (int64_t)(p[-1] - '0') * DAY_MS + whole;
        whole = product / 10, tenth = product % 10;
    }
    whole += tenth >= 5;
    put_day(&m, day + whole / DAY_MS - (f->kind == 'f' ? 24107 : day < 60 ? 25568 : 25569));
    int ms = (int)(whole % DAY_MS);
    m.has_time = m.has_micros = ms > 0;
    m.hour = ms / 3600000, m.minute = ms / 60000 % 60, m.second = ms / 1000 % 60, m.micros = ms % 1000 * 1000;
    return write_moment(out, &m);
}

/* Return whether a text stands for a missing cell. */
static int is_missing(const struct form *f, const uint8_t *text, size_t size)
{
    for (size_t at = 0; at + 2 <= f->missing_size;) {
        size_t length = f->missing[at] | (size_t)f->missing[at + 1] << 8;
        if (length == size && memcmp(f->missing + at + 2, text, size) == 0)
            return 1;
        at += 2 + length;
    }
    return 0;
}

/* Put what a text spells behind a column, where room is; a text without a character stays so. */
static void spell(struct column *c, const struct form *f, const uint8_t *from, size_t size)
{
    uint8_t *out = c->text + c->used;
    struct text t = {from, from + size};
    size_t length = f->kind == 0 ? size : f->kind == 'd' ? spell_date(f, t, out) : spell_number(f, t, out);
    if (f->kind == 0)
        memcpy(out, from, size);
    else if (length && f->kind != 'n' && f->kind != 'd')
        length = write_serial(f, (struct text){out, out + length}, out);
    if (size && f->kind && is_missing(f, from, size))
        length = 0;
    else if (length == 0 && size)
        out[length++] = NO_TEXT;
    c->used += length;
}

/* Put the cell that is read into the other columns of its field, and what it spells into its own. */
static int spell_cell(struct reader *r, struct column *c)
{
    size_t begin = begin_of_cell(c), size = c->used - begin, next = r->slot + 1;
    int is_last = next == r->n || r->places[next] != r->field, has_form = r->forms[r->slot].kind != 0;
    if (is_last && !has_form)
        return 1;
    if (!make_room(c, size + MORE))
        return 0;
    for (size_t i = next; i < r->n && r->places[i] == r->field; i++) {
        struct column *other = r->columns + i;
        if (!make_room(other, size + MORE))
            return 0;
        if (!r->unreadable)
            spell(other, r->forms + i, c->text + begin, size);
        if (!push(other, r->unreadable))
            return 0;
    }
    if (!has_form)
        return 1;
    spell(c, r->forms + r->slot, c->text + begin, size);
    c->used -= size;
    if (c->used - begin <= SLACK) {
        uint8_t word[SLACK]; /* of known size: faster than to move few bytes */
        memcpy(word, c->text + begin + size, SLACK);
        memcpy(c->text + begin, word, SLACK);
    } else {
        memmove(c->text + begin, c->text + begin + size, c->used - begin);
    }
    return 1;
}

static int end_cell(struct reader *r)
{
    if (is_wanted(r)) {
        struct column *c = r->columns + r->slot;
        end_run(r);
        if (r->unreadable)
            c->used = begin_of_cell(c);
        if (!spell_cell(r, c) || !push(c, r->unreadable))
            return 0;
        r->unreadable = 0;
        while (is_wanted(r))
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
        free(r->forms[i].missing);
        free(r->forms[i].rest);
    }
    if (r != NULL) {
        free(r->forms);
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
    r->forms = calloc(n ? n : 1, sizeof *r->forms);
    if (r->columns == NULL || r->places == NULL || r->forms == NULL) {
        discreet_close(r); /* which knows of no columns yet */
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

/* Give a column a form, before bytes are read; return whether memory sufficed. */
EXPORT int discreet_form(struct reader *r, size_t column, const uint8_t *bytes, size_t size)
{
    struct form *f = r->forms + column;
    f->missing_size = bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
    bytes += 4 + f->missing_size, size -= 4 + f->missing_size;
    size_t head = *bytes == 'd' ? 1 : 5;
    f->missing = malloc(f->missing_size + 1), f->rest = malloc(size - head + 1);
    if (f->missing == NULL || f->rest == NULL)
        return 0;
    memcpy(f->missing, bytes - f->missing_size, f->missing_size);
    memcpy(f->rest, bytes + head, size - head);
    f->kind = bytes[0], f->size = size - head;
    if (head == 5)
        f->decimal = bytes[1], f->thousands = bytes[2], f->percent = bytes[3], f->parentheses = bytes[4];
    return 1;
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
