package isolate

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// A request asks the child for one call of a device's.
type request struct {
	Seq      uint64
	Call     string
	Device   int              `json:",omitempty"` // handles, from replies
	Module   int              `json:",omitempty"`
	Kernel   int              `json:",omitempty"`
	Launch   int              `json:",omitempty"` // prepared
	Buffer   int              `json:",omitempty"`
	Name     string           `json:",omitempty"` // of a place, a buffer, a kernel
	Compiler string           `json:",omitempty"`
	Size     int              `json:",omitempty"` // of a buffer, a copy, or how many launches
	Source   int              `json:",omitempty"` // buffer of a queued copy
	To, From int              `json:",omitempty"` // offsets of it, or marks
	Pattern  byte             `json:",omitempty"`
	Config   gpu.LaunchConfig `json:",omitzero"`
}

// The calls. The body of a request is an image, the contents of a buffer
// or an argument block; that of a reply the contents of a buffer.
const (
	callProbe   = "probe"
	callOpen    = "open"
	callClose   = "close"
	callLoad    = "load"
	callUnload  = "unload"
	callKernel  = "kernel"
	callAlloc   = "alloc"
	callFree    = "free"
	callCopyIn  = "copy in"
	callCopyOut = "copy out"
	callPoison  = "poison"
	callLaunch  = "launch"

	// Of a gpu.Timer, and between enqueue and dequeue of its gpu.Queue.
	callRating  = "rating"
	callState   = "state"
	callPrepare = "prepare"
	callUnpin   = "unpin"
	callEnqueue = "enqueue"
	callDequeue = "dequeue"

	callQueueLaunch  = "queue launch"
	callQueueFill    = "queue fill"
	callQueueCopy    = "queue copy"
	callQueueMark    = "queue mark"
	callQueueHold    = "queue hold"
	callQueueRelease = "queue release"
	callQueueWait    = "queue wait"
	callQueueElapsed = "queue elapsed"
	callQueueRepeat  = "queue repeat"
)

// asLong says whether a call takes as long as a kernel does: the limit is
// its caller's.
func asLong(call string) bool {
	switch call {
	case callLaunch, callEnqueue, callDequeue, callQueueWait, callQueueLaunch, callQueueFill, callQueueCopy, callQueueMark:
		return true
	}
	return false
}

// A reply answers the request of the same Seq.
type reply struct {
	Seq     uint64
	Handle  int        `json:",omitempty"`
	Ptr     uint64     `json:",omitempty"`
	Info    gpu.Info   `json:",omitzero"`
	Timer   bool       `json:",omitempty"` // the device is a gpu.Timer
	Elapsed float64    `json:",omitempty"` // seconds
	Held    bool       `json:",omitempty"`
	Rating  gpu.Rating `json:",omitzero"`
	State   *gpu.State `json:",omitempty"`
	Report  gpu.Report `json:",omitzero"`
	Error   *wireError `json:",omitempty"`
}

// A frame is magic, the lengths of head and body, the CRC-32C of both
// lengths, of the head and of the body, then head (JSON) and body. Bytes
// that somebody else wrote into the pipe are not taken for one.
const (
	magic      = 0x706b4631
	frameHead  = 4 + 4 + 8 + 4 + 4 + 4
	maxHead    = 1 << 24
	maxBody    = 1 << 38 // no device has more memory
	bodyChunks = 64 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// writeFrame writes v as the head of a frame, and body.
func writeFrame(w io.Writer, v any, body []byte) error {
	head, err := json.Marshal(v)
	if err != nil {
		return err
	}
	b := make([]byte, frameHead, frameHead+len(head))
	le := binary.LittleEndian
	le.PutUint32(b, magic)
	le.PutUint32(b[4:], uint32(len(head)))
	le.PutUint64(b[8:], uint64(len(body)))
	le.PutUint32(b[16:], crc32.Checksum(b[4:16], castagnoli))
	le.PutUint32(b[20:], crc32.Checksum(head, castagnoli))
	le.PutUint32(b[24:], crc32.Checksum(body, castagnoli))
	if _, err := w.Write(append(b, head...)); err != nil {
		return err
	}
	if len(body) > 0 {
		_, err = w.Write(body)
	}
	return err
}

// A frameError is bytes that are no frame.
type frameError struct{ text string }

func (e *frameError) Error() string { return e.text }

// readFrame reads a frame's head into v and returns its body, which must
// not be longer than most; it is read into into where it fits. The error is
// io.EOF before the first byte, a *frameError for bytes that are no frame,
// and else the reader's.
func readFrame(r io.Reader, v any, into []byte, most uint64) ([]byte, error) {
	var b [frameHead]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	n, size := le.Uint32(b[4:]), le.Uint64(b[8:])
	switch {
	case le.Uint32(b[:]) != magic || le.Uint32(b[16:]) != crc32.Checksum(b[4:16], castagnoli):
		return nil, &frameError{fmt.Sprintf("%.8q is the beginning of no message", b[:8])}
	case n > maxHead || size > most:
		return nil, &frameError{fmt.Sprintf("a message of %d and %d bytes is too long", n, size)}
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, unexpected(err)
	}
	if crc32.Checksum(head, castagnoli) != le.Uint32(b[20:]) {
		return nil, &frameError{"a message is damaged"}
	}
	if err := json.Unmarshal(head, v); err != nil {
		return nil, &frameError{fmt.Sprintf("a message is damaged: %v", err)}
	}
	body, err := readBody(r, into, int(size))
	if err != nil {
		return nil, unexpected(err)
	}
	if crc32.Checksum(body, castagnoli) != le.Uint32(b[24:]) {
		return nil, &frameError{"the body of a message is damaged"}
	}
	return body, nil
}

// readBody reads n bytes, in parts, so that a length that is not true
// allocates no more than what is there.
func readBody(r io.Reader, into []byte, n int) ([]byte, error) {
	if n <= len(into) {
		_, err := io.ReadFull(r, into[:n])
		return into[:n], err
	}
	var body []byte
	for len(body) < n {
		at := len(body)
		body = append(body, make([]byte, min(n-at, bodyChunks))...)
		if _, err := io.ReadFull(r, body[at:]); err != nil {
			return nil, err
		}
	}
	return body, nil
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A wireError is an error with what callers look for in it.
type wireError struct {
	Text  string
	Is    []string   `json:",omitempty"` // names of sentinels
	Fault *wireFault `json:",omitempty"`
	Call  *gpu.Error `json:",omitempty"`
}

type wireFault struct {
	Kernel, Reason string
	Lost           bool
}

// sentinels are the errors that callers look for, by name.
var sentinels = map[string]error{
	"unavailable": gpu.ErrUnavailable, "lost": gpu.ErrLost, "no-kernel": gpu.ErrNoKernel, "deadline": context.DeadlineExceeded,
	"unsupported": errors.ErrUnsupported,
}

// pack makes err fit for a reply; nil stays nil.
func pack(err error) *wireError {
	if err == nil {
		return nil
	}
	w := &wireError{Text: err.Error()}
	for name, s := range sentinels {
		if errors.Is(err, s) {
			w.Is = append(w.Is, name)
		}
	}
	if e, ok := errors.AsType[*gpu.Error](err); ok {
		w.Call = e
	}
	if f, ok := errors.AsType[*gpu.Fault](err); ok {
		w.Fault = &wireFault{f.Kernel, f.Reason, f.Lost}
	}
	return w
}

// unpack is the error again: the same text, and the same to errors.Is and
// errors.As as far as sentinels, *gpu.Fault and *gpu.Error go.
func (w *wireError) unpack() error {
	if w == nil {
		return nil
	}
	e := &remoteError{text: w.Text}
	for _, name := range w.Is {
		if s := sentinels[name]; s != nil {
			e.wraps = append(e.wraps, s)
		}
	}
	if w.Call != nil {
		e.wraps = append(e.wraps, w.Call)
	}
	if w.Fault == nil {
		return e
	}
	f := &gpu.Fault{Kernel: w.Fault.Kernel, Reason: w.Fault.Reason, Lost: w.Fault.Lost, Err: e}
	if f.Error() == w.Text {
		return f
	}
	return &remoteError{w.Text, []error{f}}
}

// A remoteError is an error of the child's.
type remoteError struct {
	text  string
	wraps []error
}

func (e *remoteError) Error() string   { return e.text }
func (e *remoteError) Unwrap() []error { return e.wraps }
