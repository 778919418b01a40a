package seal

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func sealed(t *testing.T, body string) (doc []byte, sum string) {
	t.Helper()
	doc, err := Put([]byte(`{"sha256": "` + Blank + `", "body": ` + body + `}`))
	if err != nil {
		t.Fatal(err)
	}
	var v struct{ SHA256 string }
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	return doc, v.SHA256
}

func TestSeal(t *testing.T) {
	doc, sum := sealed(t, `[1, 2.50, "a b"]`)
	check := func(what string, doc []byte, sum string, ok bool) {
		t.Helper()
		err := Check(doc, sum)
		if (err == nil) != ok || err != nil && !errors.Is(err, ErrChanged) {
			t.Errorf("%s: got %v, want ok %v", what, err, ok)
		}
	}
	check("as written", doc, sum, true)
	var b bytes.Buffer
	if err := json.Indent(&b, doc, "", "\t"); err != nil {
		t.Fatal(err)
	}
	check("indented", b.Bytes(), sum, true)
	check("a digit", bytes.Replace(doc, []byte("2.50"), []byte("2.51"), 1), sum, false)
	check("a zero", bytes.Replace(doc, []byte("2.50"), []byte("2.5"), 1), sum, false)
	check("a space in a string", bytes.Replace(doc, []byte("a b"), []byte("ab"), 1), sum, false)
	check("another sum", doc, strings.Repeat("ab", 32), false)
	check("upper case", doc, strings.ToUpper(sum), false)
	check("no sum", doc, "", false)
	check("blank", doc, Blank, false)
}

func TestPutErrors(t *testing.T) {
	if _, err := Put([]byte(`{}`)); err == nil {
		t.Error("no blank: got no error")
	}
	if _, err := Put([]byte(`{"sha256": "` + Blank + `"`)); err == nil {
		t.Error("cut off: got no error")
	}
}
