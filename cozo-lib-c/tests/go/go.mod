module cozo

go 1.21
