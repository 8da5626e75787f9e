/* One draw from a few numbers in one call from Python: the weights, a word of the caller's, and where it falls. And who
   arrives first in a race.

   Optional, like kernel.c, whose functions it calls: *Rows* and *The logarithm* in docs/explanation/draw.md. Calls by
   ctypes take longer than such a draw, so this is a module of its own, of the stable interface of CPython 3.11 and later.
   The word comes from a function of the caller's, so a test may put any word in its place, and it is asked for only
   after all numbers were looked at. */

#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#define EXPORT static
#include "kernel.c"

#define MOST 1024
#define WHOLE_DOUBLES ((int64_t)1 << 53)

/* Read the numbers of a list that are all floats, or all integers that are doubles; return how many, or 0. */
static size_t read_list(PyObject *list, double *x)
{
    Py_ssize_t n = PyList_Size(list);
    if (n < 1 || n > MOST)
        return 0;
    if (PyFloat_CheckExact(PyList_GetItem(list, 0))) {
        for (Py_ssize_t i = 0; i < n; i++) {
            PyObject *number = PyList_GetItem(list, i);
            if (!PyFloat_CheckExact(number))
                return 0;
            x[i] = PyFloat_AsDouble(number);
        }
        return (size_t)n;
    }
    int fits = 1;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *number = PyList_GetItem(list, i);
        int overflow = 0;
        if (!PyLong_CheckExact(number))
            return 0;
        int64_t whole_number = PyLong_AsLongLongAndOverflow(number, &overflow);
        fits &= !overflow & (whole_number > -WHOLE_DOUBLES) & (whole_number < WHOLE_DOUBLES);
        x[i] = (double)whole_number;
    }
    return fits ? (size_t)n : 0;
}

/* Read an array of one dimension of doubles; return how many, or 0. */
static size_t read_array(PyObject *array, double *x)
{
    Py_buffer view;
    size_t n = 0;
    if (PyObject_GetBuffer(array, &view, PyBUF_STRIDED_RO | PyBUF_FORMAT) != 0) {
        PyErr_Clear();
        return 0;
    }
    if (view.ndim == 1 && view.shape[0] <= MOST && view.format != NULL && strcmp(view.format, "d") == 0) {
        n = (size_t)view.shape[0];
        if (view.strides[0] == (Py_ssize_t)sizeof *x)
            memcpy(x, view.buf, n * sizeof *x);
        else
            for (size_t i = 0; i < n; i++)
                memcpy(x + i, (const char *)view.buf + (Py_ssize_t)i * view.strides[0], sizeof *x);
    }
    PyBuffer_Release(&view);
    return n;
}

static PyObject *settle(PyObject *module, PyObject *const *arguments, Py_ssize_t number)
{
    double x[MOST], ends[MOST];
    (void)module;
    if (number != 6) {
        PyErr_SetString(PyExc_TypeError, "settle takes six arguments");
        return NULL;
    }
    Py_ssize_t size = PyLong_AsSsize_t(arguments[1]);
    double rate = PyFloat_AsDouble(arguments[2]), slack = PyFloat_AsDouble(arguments[3]);
    unsigned long width = PyLong_AsUnsignedLong(arguments[5]);
    if (PyErr_Occurred())
        return NULL;
    size_t n = PyList_CheckExact(arguments[0]) ? read_list(arguments[0], x) : read_array(arguments[0], x);
    if (n == 0 || (size != 0 && (size_t)size != n) || !discreet_row_sums(x, 1, n, rate, ends))
        Py_RETURN_NONE;
    PyObject *read = PyObject_CallNoArgs(arguments[4]);
    if (read == NULL)
        return NULL;
    uint64_t word = PyLong_AsUnsignedLongLong(read);
    if (PyErr_Occurred()) {
        Py_DECREF(read);
        return NULL;
    }
    int64_t index;
    uint64_t cell_bits = (uint64_t)(1023 - width) << 52; /* of 2^-width */
    double cell;
    memcpy(&cell, &cell_bits, sizeof cell);
    discreet_locate_rows(ends, 1, n, &word, cell, slack, &index);
    PyObject *answer = index < 0 ? PyNumber_Invert(read) : PyLong_FromLongLong(index);
    Py_DECREF(read);
    return answer;
}

/* Get `n` numbers of eight bytes, one after another, of one of the formats; any number of them if `n` is negative. */
static int get_numbers(PyObject *array, Py_ssize_t n, const char *formats, int flags, Py_buffer *view)
{
    if (PyObject_GetBuffer(array, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | flags) != 0)
        return 0;
    int fits = view->ndim == 1 && view->itemsize == 8 && (n < 0 || view->shape[0] == n) && view->format != NULL
               && view->format[0] != 0 && view->format[1] == 0 && strchr(formats, view->format[0]) != NULL;
    if (!fits) {
        PyBuffer_Release(view);
        PyErr_SetString(PyExc_TypeError, "an array of other numbers is needed");
    }
    return fits;
}

static PyObject *delays(PyObject *module, PyObject *const *arguments, Py_ssize_t number)
{
    Py_buffer x, out;
    (void)module;
    if (number != 4) {
        PyErr_SetString(PyExc_TypeError, "delays takes four arguments");
        return NULL;
    }
    double rate = PyFloat_AsDouble(arguments[2]);
    if (PyErr_Occurred() || !get_numbers(arguments[0], -1, "dlq", 0, &x))
        return NULL;
    int are_integers = *x.format != 'd', finite = 0;
    double good = are_integers ? 0.0 : PyFloat_AsDouble(arguments[1]);
    int64_t good_integer = are_integers ? PyLong_AsLongLong(arguments[1]) : 0;
    if (!PyErr_Occurred() && get_numbers(arguments[3], x.shape[0], "d", PyBUF_WRITABLE, &out)) {
        const void *from = are_integers ? (const void *)&good_integer : (const void *)&good;
        finite = discreet_delays(x.buf, are_integers, (size_t)x.shape[0], from, rate, out.buf);
        PyBuffer_Release(&out);
    }
    PyBuffer_Release(&x);
    return PyErr_Occurred() ? NULL : PyBool_FromLong(finite);
}

/* Release some arrays; return whether all of them had been got. */
static int release(Py_buffer *views, int got, int all)
{
    int complete = got == all;
    while (got > 0)
        PyBuffer_Release(views + --got);
    return complete;
}

static PyObject *looks(PyObject *module, PyObject *const *arguments, Py_ssize_t number)
{
    Py_buffer views[4];
    Py_ssize_t n;
    int got = 0;
    (void)module;
    if (number != 4) {
        PyErr_SetString(PyExc_TypeError, "looks takes four arguments");
        return NULL;
    }
    got += get_numbers(arguments[2], -1, "d", 0, views);
    n = got ? views[0].shape[0] : 0;
    got += got == 1 && get_numbers(arguments[0], (n + 3) / 4, "LQ", 0, views + 1);
    got += got == 2 && get_numbers(arguments[1], 1 << 16, "d", 0, views + 2);
    got += got == 3 && get_numbers(arguments[3], n, "d", PyBUF_WRITABLE, views + 3);
    if (got == 4)
        discreet_looks(views[1].buf, views[2].buf, views[0].buf, (size_t)n, views[3].buf);
    if (!release(views, got, 4))
        return NULL;
    Py_RETURN_NONE;
}

/* The list of `first_arrivals`, whose arrays were got: the scores, delays, looks, the order of looks, and words. */
static PyObject *list_arrivals(const Py_buffer *views, PyObject *const *arguments)
{
    int64_t answers[MOST_NEAR];
    const int64_t *order = views[3].buf;
    const double *times = views[2].buf;
    size_t all = (size_t)views[0].shape[0], n = (size_t)views[5].shape[0];
    Py_ssize_t k = PyLong_AsSsize_t(arguments[6]);
    double rate = PyFloat_AsDouble(arguments[7]);
    double apart = PyFloat_AsDouble(arguments[8]), latest = PyFloat_AsDouble(arguments[9]);
    if (PyErr_Occurred())
        return NULL;
    int inside = n <= MOST_NEAR && n <= all && k > 0 && (size_t)k <= n;
    for (size_t i = 0; inside && i < n + (n < all); i++)
        inside = (uint64_t)order[i] < all;
    if (!inside) {
        PyErr_SetString(PyExc_ValueError, "first_arrivals takes some of few candidates");
        return NULL;
    }
    if (!discreet_first_arrivals(
            views[0].buf, *views[0].format != 'd', views[1].buf, order, views[4].buf, views[5].buf, n, (size_t)k,
            n < all ? times[order[n]] : INFINITE, rate, apart, latest, answers))
        Py_RETURN_NONE;
    PyObject *list = PyList_New(k);
    for (Py_ssize_t i = 0; list != NULL && i < k; i++) {
        PyObject *index = PyLong_FromLongLong(answers[i]);
        if (index == NULL || PyList_SetItem(list, i, index) != 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

static PyObject *first_arrivals(PyObject *module, PyObject *const *arguments, Py_ssize_t number)
{
    static const char *const formats[] = {"dlq", "d", "d", "lq", "LQ", "LQ"};
    Py_buffer views[6];
    PyObject *answer = NULL;
    int got = 0;
    (void)module;
    if (number != 10) {
        PyErr_SetString(PyExc_TypeError, "first_arrivals takes ten arguments");
        return NULL;
    }
    for (; got < 6; got++) {
        Py_ssize_t all = got == 0 ? -1 : views[0].shape[0];
        Py_ssize_t n = got == 4 ? (all + 3) / 4 : got == 5 ? -1 : all;
        if (!get_numbers(arguments[got], n, formats[got], 0, views + got))
            break;
    }
    if (got == 6)
        answer = list_arrivals(views, arguments);
    release(views, got, 6);
    return answer;
}

static PyObject *source(PyObject *module, PyObject *nothing)
{
    (void)module;
    (void)nothing;
    return PyLong_FromUnsignedLongLong(DISCREET_SOURCE);
}

static PyMethodDef METHODS[] = {
    {"settle", (PyCFunction)(void (*)(void))settle, METH_FASTCALL,
     "settle(scores, size, rate, slack, read, width)\n--\n\n"
     "Return the index on which the word that read() returns certainly falls, ~word where that is open, or None, before\n"
     "a word is read, if the scores are not `size` (any number if 0) finite doubles in a list or an array.\n"
     "The weights are 2**(-rate * gap), and a comparison is certain beyond `slack` times their sum."},
    {"delays", (PyCFunction)(void (*)(void))delays, METH_FASTCALL,
     "delays(scores, good, rate, out)\n--\n\n"
     "Put rate * (good - score), cut to +-64, into an array of doubles. Return whether all scores are finite.\n"
     "The scores are an array of doubles or of integers of 64 bits."},
    {"first_arrivals", (PyCFunction)(void (*)(void))first_arrivals, METH_FASTCALL,
     "first_arrivals(scores, delays, looks, order, words, more, k, rate, apart, latest)\n--\n\n"
     "Return the k candidates that arrive first, in order, or None where that is not certain: *How it is drawn* in\n"
     "docs/reference/mechanisms/top_k.md#peeling. `order` begins with the at most 512 candidates of the earliest looks and the next\n"
     "one; their uniforms begin with 16 bits in `words` and go on with the words in `more`."},
    {"looks", (PyCFunction)(void (*)(void))looks, METH_FASTCALL,
     "looks(words, table, delays, out)\n--\n\n"
     "Put the earliest arrivals by 16 bits each into an array: their logarithms are in a table, and delays are added."},
    {"source", source, METH_NOARGS, "source()\n--\n\nReturn the beginning of the digest of the text."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_settle", NULL, 0, METHODS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__settle(void)
{
    return PyModuleDef_Init(&MODULE);
}
