package ops

import (
	"fmt"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

// A Timed is a case for timing. Its inputs may repeat (Tensor.Period), so
// that it is not for judging before they are expanded.
type Timed struct {
	Case Case
	Size string // what it stands for: "large", "llama3-8b prefill"
}

// A Scale is a size that every op can be timed at: a number of rows, or a
// model whose shapes they are.
type Scale struct {
	Name    string // "large", "llama3-8b"
	Summary string

	rows, cols int
	model      *model
}

// Scales are all scales: plain sizes, then models.
func Scales() []Scale {
	list := []Scale{
		{Name: "small", Summary: "4096 elements: bound by the launch", rows: 4, cols: 1024},
		{Name: "medium", Summary: "2^20 elements, rows of 4096: in the cache", rows: 256, cols: 4096},
		{Name: "large", Summary: "2^26 elements, rows of 4096: bound by memory", rows: 1 << 14, cols: 4096},
		{Name: "huge", Summary: "2^28 elements, rows of 4096: what a cache holds no longer counts", rows: 1 << 16, cols: 4096},
	}
	for i := range models {
		list = append(list, Scale{Name: models[i].name, Summary: models[i].title, model: &models[i]})
	}
	return list
}

// IsModel reports whether the scale is a model's.
func (s Scale) IsModel() bool { return s.model != nil }

// A model is the sizes of a published network. The sources are the
// config.json of each on its hub page.
type model struct {
	name, title    string
	hidden, inner  int // width of the residual stream and of the MLP
	heads, kvHeads int // of headDim
	vocab          int
	stages         []stage // of an image model, which has none of the above
}

// A stage is one resolution of an image model's UNet.
type stage struct{ channels, side int }

// tokens is how many a language model's prompt has, and the length of the
// context when a token is decoded.
const tokens = 2048

// headDim is the width of a head, in all of the language models.
const headDim = 128

var models = []model{
	{name: "llama3-8b", title: "Llama 3 8B", hidden: 4096, inner: 14336, heads: 32, kvHeads: 8, vocab: 128256},
	{name: "llama3-70b", title: "Llama 3 70B", hidden: 8192, inner: 28672, heads: 64, kvHeads: 8, vocab: 128256},
	{name: "qwen2.5-7b", title: "Qwen2.5 7B", hidden: 3584, inner: 18944, heads: 28, kvHeads: 4, vocab: 152064},
	{name: "mistral-7b", title: "Mistral 7B v0.1", hidden: 4096, inner: 14336, heads: 32, kvHeads: 8, vocab: 32000},
	{name: "sd1.5", title: "Stable Diffusion 1.5, two images of 512x512", stages: []stage{{320, 64}, {640, 32}, {1280, 16}}},
}

// The constants of Stable Diffusion 1.5's UNet.
const (
	imageBatch = 2 // with and without the prompt
	imageHeads = 8
	promptSize = 77 // tokens of the prompt
)

// An extent is the shape that an op meets: rows of cols elements. What
// from is depends on the kind: the rows of a table, the images of a batch.
type extent struct {
	rows, cols, from int
	what             string // of the model
}

func timed(list []extent, of func(extent) Case) []Timed {
	var out []Timed
	for _, x := range list {
		out = append(out, Timed{Case: of(x), Size: x.what})
	}
	return out
}

// prefillAndDecode are the rows of a language model that are one a token.
func (s Scale) prefillAndDecode(cols int) []extent {
	return []extent{
		{rows: tokens, cols: cols, what: s.Name + " prefill"},
		{rows: 1, cols: cols, what: s.Name + " decode"},
	}
}

// perStage are the rows of an image model that are one a pixel.
func (s Scale) perStage(cols func(stage) int) []extent {
	var list []extent
	for _, g := range s.model.stages {
		list = append(list, extent{rows: imageBatch * g.side * g.side, cols: cols(g), what: fmt.Sprintf("%s %dx%d", s.Name, g.side, g.side)})
	}
	return list
}

func (s Scale) plain() []extent {
	return []extent{{rows: s.rows, cols: s.cols, from: s.rows, what: s.Name}}
}

// hidden is the residual stream.
func (s Scale) hidden() []extent {
	switch {
	case s.model == nil:
		return s.plain()
	case s.model.stages != nil:
		return s.perStage(func(g stage) int { return g.channels })
	}
	return s.prefillAndDecode(s.model.hidden)
}

// inner is what the MLP works on.
func (s Scale) inner() []extent {
	switch {
	case s.model == nil:
		return s.plain()
	case s.model.stages != nil:
		return s.perStage(func(g stage) int { return 4 * g.channels })
	}
	return s.prefillAndDecode(s.model.inner)
}

// heads is the queries of all heads, a row a token.
func (s Scale) heads() []extent {
	switch {
	case s.model == nil: // in rows of 32 heads
		n := s.rows * s.cols
		return []extent{{rows: n / (32 * headDim), cols: 32 * headDim, what: s.Name}}
	case s.model.stages != nil:
		return nil // no rotary embedding
	}
	return append(s.prefillAndDecode(s.model.heads*headDim),
		extent{rows: tokens, cols: s.model.kvHeads * headDim, what: s.Name + " prefill keys"})
}

// scores is what attention weighs: a row a query and head.
func (s Scale) scores() []extent {
	switch {
	case s.model == nil:
		return s.plain()
	case s.model.stages != nil:
		var list []extent
		for _, g := range s.model.stages {
			n := g.side * g.side
			at := fmt.Sprintf("%s %dx%d", s.Name, g.side, g.side)
			list = append(list,
				extent{rows: imageBatch * imageHeads * n, cols: n, what: at + " self"},
				extent{rows: imageBatch * imageHeads * n, cols: promptSize, what: at + " cross"})
		}
		return list
	}
	h := s.model.heads
	return []extent{
		{rows: h * tokens, cols: tokens, what: s.Name + " prefill"},
		{rows: h, cols: tokens, what: s.Name + " decode"},
	}
}

// vocabulary is what a token is sampled from, and the rows of a norm.
func (s Scale) vocabulary() []extent {
	switch {
	case s.model == nil:
		return s.plain()
	case s.model.stages != nil:
		return s.hidden()
	}
	return []extent{
		{rows: 1, cols: s.model.vocab, what: s.Name + " sampling"},
		{rows: tokens, cols: s.model.hidden, what: s.Name + " prefill"},
	}
}

// lookups are rows taken from a table of from rows.
func (s Scale) lookups() []extent {
	switch {
	case s.model == nil:
		return s.plain()
	case s.model.stages != nil:
		return nil
	}
	list := s.prefillAndDecode(s.model.hidden)
	for i := range list {
		list[i].from = s.model.vocab
	}
	return list
}

// images are from images of rows channels, whose sides are cols when they
// have been doubled.
func (s Scale) images() []extent {
	if s.model == nil {
		n, side := s.rows*s.cols, 256
		if n < side*side {
			side = 64
		}
		return []extent{{rows: n / (side * side), cols: side, from: 1, what: s.Name}}
	}
	var list []extent
	for i, g := range s.model.stages {
		if i > 0 { // the channels are those of the lower resolution
			side := s.model.stages[i-1].side
			list = append(list, extent{rows: g.channels, cols: side, from: imageBatch, what: fmt.Sprintf("%s %dx%d", s.Name, side, side)})
		}
	}
	return list
}

// plainClass is the class of ordinary inputs of elementwise ops.
func plainClass(d tensor.DType) string {
	if d.IsFloat() {
		return "loguniform"
	}
	return "random"
}
