package voice

import (
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	// progressPause is the minimum time between two updates of the line on a terminal.
	progressPause = 100 * time.Millisecond
	// linePause is the time between two lines where no terminal can overwrite one.
	linePause = 10 * time.Second
)

// A Progress says how much is done: on a terminal a line that is overwritten in place, elsewhere a
// line now and then.
type Progress struct {
	out   io.Writer
	width int // columns of the terminal; 0 if there is none
	name  string
	begin time.Time
	last  time.Time
	shown bool // on a terminal
	done  int  // of a list
}

// NewProgress begins what has a name.
func NewProgress(out io.Writer, name string) *Progress {
	p := &Progress{out: out, name: name}
	if IsTerminal(out) {
		p.width = widthOf(out)
	}
	p.restart()
	return p
}

func (p *Progress) restart() {
	if p.begin = time.Now(); p.width == 0 {
		p.last = p.begin
	}
}

// Show says that so many are done, such as objects. A total of 0 is unknown. More is what else
// there is to say.
func (p *Progress) Show(done, total uint64, noun string, more ...string) {
	now := time.Now()
	pause := linePause
	if p.width > 0 {
		pause = progressPause
	}
	if now.Sub(p.last) < pause {
		return
	}
	p.last = now
	text := Count(done, noun)
	if total > 0 {
		text = fmt.Sprintf("%d of %s", min(done, total), Count(total, noun))
	}
	more = append(more, now.Sub(p.begin).Round(time.Second).String())
	text += ", " + strings.Join(more, ", ")
	if p.width == 0 {
		fmt.Fprintf(p.out, "webhookd: %s: %s\n", p.name, text)
		return
	}
	p.shown = true
	fmt.Fprintf(p.out, "\r%s\x1b[K", cut(p.name+": "+text, p.width-1))
}

// Listed is show for the objects of a list. Left is how many are not done, or negative if unknown.
func (p *Progress) Listed(done int, left int64) {
	total := uint64(0)
	if left >= 0 {
		total = uint64(done) + uint64(left) //nolint:gosec // counts
	}
	if done <= p.done {
		p.restart() // it is another list
	}
	p.done = done
	p.Show(uint64(done), total, "object", p.rate(uint64(done))) //nolint:gosec // counts
}

// Step is show for one of a few steps, each of which may take long.
func (p *Progress) Step(done, total int, noun, name string) {
	if p.width > 0 {
		p.last = time.Time{}
	}
	p.Show(uint64(done), uint64(total), noun, name) //nolint:gosec // counts
}

// rate returns how many objects were done in a second.
func (p *Progress) rate(done uint64) string {
	return fmt.Sprintf("%.0f/s", float64(done)/max(time.Since(p.begin).Seconds(), 0.001))
}

// Clear removes the line, so that the result replaces it.
func (p *Progress) Clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// cut shortens a line that is wider than a terminal, which could not overwrite it.
func cut(line string, width int) string {
	runes := []rune(line)
	if len(runes) <= width || width < 1 {
		return line
	}
	return string(runes[:width-1]) + "…"
}
