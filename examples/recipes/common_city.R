# The most common city, from R by reticulate: Rscript examples/recipes/common_city.R examples/people.csv
library(reticulate)
if (exists("py_require")) py_require("discreet")  # which reticulate has since 1.41
discreet <- import("discreet")
file <- commandArgs(trailingOnly = TRUE)[1]
cities <- list("Basel", "Bern", "Genève", "Lausanne", "Zürich")
release <- discreet$mode(file, "city", candidates = cities, epsilon = 1L)
cat(release$value, "\n")
cat(py_str(release), "\n")
