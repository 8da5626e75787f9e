/* One draw from a few numbers in one call from Python: the weights, a word of the caller's, and where it falls.

   Optional, like kernel.c, whose functions it calls with a single row: *Rows* in docs/explanation/draw.md. Calls by
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
    {"source", source, METH_NOARGS, "source()\n--\n\nReturn the beginning of the digest of the text."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_settle", NULL, 0, METHODS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__settle(void)
{
    return PyModuleDef_Init(&MODULE);
}
