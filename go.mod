module github.com/paritycheck/paritycheck

go 1.26
