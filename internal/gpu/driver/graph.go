package driver

import (
	"errors"
	"fmt"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// A graph is launches of one kernel as one.
type graph struct {
	d    *Device
	of   *launch
	exec uintptr // CUgraphExec, hipGraphExec_t
}

func (g *graph) Kernel() gpu.Kernel { return g.of.kernel }

// Free is called off the queue, with none of the launches pending.
func (g *graph) Free() {
	g.d.do(func() error {
		g.d.api.GraphExecDestroy.Call(g.exec)
		return nil
	})
}

// Repeat implements gpu.Repeater, by capturing the launches.
func (q *queue) Repeat(l gpu.Launch, n int) (gpu.Launch, error) {
	a, stream := q.d.api, q.d.timing.stream
	ll, err := q.launch(l)
	if err != nil {
		return nil, err
	}
	if !a.graphs() {
		return nil, fmt.Errorf("%w: the driver has no graphs", errors.ErrUnsupported)
	}
	if err := a.Check(a.StreamBeginCapture.Name, a.StreamBeginCapture.Call(stream, captureModeThreadLocal)); err != nil {
		return nil, fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	for range n {
		if err = q.d.start(ll, stream); err != nil {
			break
		}
	}
	var captured uintptr
	if e := a.Check(a.StreamEndCapture.Name, a.StreamEndCapture.Call(stream, &captured)); err == nil {
		err = e
	}
	if captured != 0 {
		defer a.GraphDestroy.Call(captured)
	}
	g := &graph{d: q.d, of: ll}
	if err == nil {
		err = a.Check(a.GraphInstantiate.Name, a.GraphInstantiate.Call(&g.exec, captured, 0))
	}
	if _, fault := errors.AsType[*gpu.Fault](err); fault {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return g, nil
}
