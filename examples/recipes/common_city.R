# The most common city, from R by reticulate: Rscript examples/recipes/common_city.R examples/people.csv
library(reticulate)
py_require("discreet")
discreet <- import("discreet")
file <- commandArgs(trailingOnly = TRUE)[1]
cities <- list("Basel", "Bern", "Genève", "Lausanne", "Zürich")
release <- discreet$mode(file, "city", candidates = cities, epsilon = 1L)
cat(release$value, "\n")
cat(as.character(release$promise), "\n")
