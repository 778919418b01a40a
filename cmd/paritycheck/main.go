// Command paritycheck says whether a GPU kernel ported from CUDA to HIP is
// right: it launches both on the same inputs, compares them with the truth
// in higher precision, and reports what agrees, how closely, and where it
// does not.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
