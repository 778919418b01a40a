// Package seal puts a checksum into JSON documents, so that a file that
// was changed by hand or by a faulty copy is told from one that was
// written. It is no signature: whoever means to forge can.
//
// The document's member "sha256" holds the SHA-256, in hexadecimal, of the
// document without white space between its tokens and with 64 zeros in
// that place. A document that was indented anew still holds.
package seal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Blank is what the member must hold when a document is given to Put.
var Blank = strings.Repeat("0", 2*sha256.Size)

// ErrChanged is wrapped by the error of Check for a document that is not
// what was written.
var ErrChanged = errors.New("it was changed after it was written")

// Put replaces the first blank of doc by the checksum.
func Put(doc []byte) ([]byte, error) {
	if !bytes.Contains(doc, []byte(Blank)) {
		return nil, errors.New("sealing: the document has no blank for its checksum")
	}
	sum, err := digest(doc)
	if err != nil {
		return nil, err
	}
	return bytes.Replace(doc, []byte(Blank), []byte(sum), 1), nil
}

// Check holds doc against sum, the value of its member.
func Check(doc []byte, sum string) error {
	if b, err := hex.DecodeString(sum); err != nil || len(b) != sha256.Size || strings.ToLower(sum) != sum {
		return fmt.Errorf("sha256 must be 64 lower-case hexadecimal digits, not %.80q: %w", sum, ErrChanged)
	}
	want, err := digest(bytes.Replace(doc, []byte(sum), []byte(Blank), 1))
	if err != nil {
		return err
	}
	if want != sum {
		return fmt.Errorf("its checksum is %s…, but that of its contents %s…: %w", sum[:12], want[:12], ErrChanged)
	}
	return nil
}

func digest(doc []byte) (string, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, doc); err != nil {
		return "", fmt.Errorf("sealing: %w", err)
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:]), nil
}
