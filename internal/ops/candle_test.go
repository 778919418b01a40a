package ops

import "testing"

func TestCandle(t *testing.T) {
	all := Candle()
	if got, want := len(all), 748; got != want {
		t.Fatalf("got %d symbols, want %d", got, want)
	}
	modules := map[string]string{}
	for _, s := range all {
		if modules[s.Name] != "" {
			t.Errorf("symbol %s is listed twice", s.Name)
		}
		modules[s.Name] = s.Module
	}
	// Every kernel of the table is candle's, in the module the op names.
	for _, o := range All() {
		for _, v := range o.Variants {
			k := o.Kernel(v)
			if got := modules[k]; got != o.Module {
				t.Errorf("%s: candle has it in module %q, the op in %q", k, got, o.Module)
			}
		}
	}
}
