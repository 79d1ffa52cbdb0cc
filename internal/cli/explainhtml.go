package cli

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

const formatHTML = "html"

//go:embed explain.css
var explainStyle string

// Sizes of the picture, in pixels. The rows have the height that explain.css gives them.
const (
	rowHeight = 24
	linkWidth = 200
	stubWidth = 22
)

// classes are the classes of atoms. A row that has several is shown in the last one.
func classes() []check.Class {
	return []check.Class{check.Copied, check.Mapped, check.Preserved, check.Dropped, check.Unmapped}
}

func classMeaning(c check.Class) string {
	return map[check.Class]string{
		check.Copied: "the same in the other version", check.Mapped: "a rule converts it", check.Preserved: "kept in an annotation",
		check.Dropped: "lost on purpose", check.Unmapped: "lost: check reports it",
	}[c]
}

// An htmlPage writes HTML. Package html/template would keep every method of the program in the
// binary.
type htmlPage struct{ strings.Builder }

// escape makes text safe in elements and in quoted attributes.
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;").Replace(text)
}

// put writes markup, whose string arguments it escapes.
func (p *htmlPage) put(markup string, args ...any) {
	for i, a := range args {
		if text, is := a.(string); is {
			args[i] = escape(text)
		}
	}
	fmt.Fprintf(p, markup, args...)
}

// writeHTML writes one page that shows each pair of versions: both schemas, with lines between
// the fields that belong together.
func writeHTML(w io.Writer, directions []check.Direction) error {
	p := &htmlPage{}
	p.put(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">` +
		`<title>Conversions between versions</title><style>`)
	p.WriteString(explainStyle)
	p.put(`</style></head><body><h1>Conversions between versions</h1><ul class="legend">`)
	for _, c := range classes() {
		p.put(`<li class="%s"><b>%s</b> %s</li>`, string(c), string(c), classMeaning(c))
	}
	p.put(`</ul><nav>`)
	pairs := pairsOf(directions)
	for i, pair := range pairs {
		p.put(`<a href="#pair%d">%s: %s, %s</a>`, i, pair[0].CRD, pair[0].From, pair[0].To)
	}
	p.put(`</nav>`)
	for i, pair := range pairs {
		p.put(`<section id="pair%d"><h2>%s <small>%s and %s</small></h2>`, i, pair[0].CRD, pair[0].From, pair[0].To)
		newPicture(pair).write(p)
		p.put(`</section>`)
	}
	p.put("</body></html>\n")
	_, err := io.WriteString(w, p.String())
	return err
}

// pairsOf returns the directions in twos, each with its reverse.
func pairsOf(directions []check.Direction) [][2]*check.Direction {
	var pairs [][2]*check.Direction
	for i := 0; i+1 < len(directions); i += 2 {
		pairs = append(pairs, [2]*check.Direction{&directions[i], &directions[i+1]})
	}
	return pairs
}

// A row is a place of a version with its atoms.
type row struct {
	path  string
	atoms []check.Atom
	depth int
	label string
	below int // places below that are not shown, since all of them are the same in both versions
}

func (r *row) class() check.Class {
	worst := 0
	for _, a := range r.atoms {
		worst = max(worst, slices.Index(classes(), a.Class))
	}
	return classes()[worst]
}

// plain reports whether the place is the same in the other version.
func (r *row) plain() bool {
	return !slices.ContainsFunc(r.atoms, func(a check.Atom) bool {
		return a.Class != check.Copied || a.To != "" && a.To != a.Path || a.Reason != ""
	})
}

// A picture is a pair of versions: the left one's rows and the right one's.
type picture struct {
	pair [2]*check.Direction
	rows [2][]*row
	at   [2]map[string]int // the index of the row that shows a path
}

func newPicture(pair [2]*check.Direction) *picture {
	v := &picture{pair: pair}
	open := map[string]bool{} // paths with differences below
	for side, d := range pair {
		for _, a := range d.Atoms {
			if last := len(v.rows[side]) - 1; last >= 0 && v.rows[side][last].path == a.Path {
				v.rows[side][last].atoms = append(v.rows[side][last].atoms, a)
			} else {
				v.rows[side] = append(v.rows[side], &row{path: a.Path, atoms: []check.Atom{a}})
			}
		}
		for _, r := range v.rows[side] {
			if !r.plain() {
				for _, above := range pathsAbove(r.path) {
					open[above] = true
				}
			}
		}
		key := strings.NewReplacer(".", "\x01", "[", "\x02", "{", "\x03") // what is below a place follows it
		slices.SortStableFunc(v.rows[side], func(a, b *row) int { return strings.Compare(key.Replace(a.path), key.Replace(b.path)) })
	}
	for side := range v.rows {
		v.fold(side, open)
	}
	return v
}

// pathsAbove returns the paths of a place and of all places above it.
func pathsAbove(path string) []string {
	read, err := syntax.ParsePath(path)
	if err != nil {
		return []string{path}
	}
	above := make([]string, 0, len(read.Segments))
	for _, s := range read.Segments {
		above = append(above, path[:s.End])
	}
	return above
}

// fold leaves out the rows below places without differences, and arranges the others as a tree.
func (v *picture) fold(side int, open map[string]bool) {
	v.at[side] = map[string]int{}
	var shown, stack []*row
	for _, r := range v.rows[side] {
		above := pathsAbove(r.path)
		for len(stack) > 0 && !slices.Contains(above, stack[len(stack)-1].path) {
			stack = stack[:len(stack)-1]
		}
		r.label = r.path
		if len(stack) > 0 {
			top := stack[len(stack)-1]
			if !open[top.path] {
				top.below++
				v.at[side][r.path] = len(shown) - 1
				continue
			}
			r.depth, r.label = len(stack), strings.TrimPrefix(r.path, top.path)
		}
		v.at[side][r.path] = len(shown)
		shown, stack = append(shown, r), append(stack, r)
	}
	v.rows[side] = shown
}

func (v *picture) write(p *htmlPage) {
	for _, d := range v.pair {
		p.put(`<p class="sum"><b>%s to %s</b>: %s</p>`, d.From, d.To, summary(d))
	}
	p.put(`<div class="picture">`)
	v.column(p, 0)
	v.lines(p)
	v.column(p, 1)
	p.put(`</div>`)
	v.reasons(p)
}

func (v *picture) column(p *htmlPage, side int) {
	p.put(`<div class="column"><h3>%s</h3><ol>`, v.pair[side].From)
	for _, r := range v.rows[side] {
		p.put(`<li class="%s" title="%s"><span style="padding-left:%dpx">%s</span>`,
			string(r.class()), v.title(side, r), r.depth*14, r.label)
		if r.below > 0 {
			p.put(`<i>%s below, all copied</i>`, count(r.below, "place"))
		}
		p.put(`</li>`)
	}
	p.put(`</ol></div>`)
}

// title says what becomes of a place, a line for each atom.
func (v *picture) title(side int, r *row) string {
	lines := append(make([]string, 0, 1+len(r.atoms)), r.path)
	for _, a := range r.atoms {
		lines = append(lines, v.says(side, a))
	}
	return strings.Join(lines, "\n")
}

func (v *picture) says(side int, a check.Atom) string {
	text := string(a.Class)
	if a.Kind != check.Value {
		text = string(a.Kind) + " " + text
	}
	if a.To != "" && a.To != a.Path {
		text += " to " + a.To
	}
	return fmt.Sprintf("in %s: %s%s", v.pair[side].To, text, by(a.Rule, a.Reason))
}

// by names the rule of an atom and the reason.
func by(rule, reason string) string {
	text := ""
	if rule != "" {
		text = ", " + rule
	}
	if reason != "" {
		text += ": " + reason
	}
	return text
}

// lines draws a line for each pair of rows, and a stub for a row without a counterpart.
func (v *picture) lines(p *htmlPage) {
	height := rowHeight * max(len(v.rows[0]), len(v.rows[1]))
	p.put(`<svg width="%d" height="%d" viewBox="0 0 %d %d" aria-hidden="true">`, linkWidth, height, linkWidth, height)
	type link struct{ left, right int }
	worst, titles := map[link]int{}, map[link][]string{}
	var order []link
	for side := range v.rows {
		for i, r := range v.rows[side] {
			for _, a := range r.atoms {
				for _, j := range v.ends(side, a) {
					l := link{i, j}
					if side == 1 {
						l = link{j, i}
					}
					if _, has := worst[l]; !has {
						order = append(order, l)
					}
					worst[l] = max(worst[l], slices.Index(classes(), a.Class))
					titles[l] = append(titles[l], a.Path+" "+v.says(side, a))
				}
			}
			v.stub(p, side, i, r)
		}
	}
	for _, l := range order {
		y, z := l.left*rowHeight+rowHeight/2, l.right*rowHeight+rowHeight/2
		p.put(`<path class="%s" d="M0 %dC%d %d %d %d %d %d"><title>%s</title></path>`, string(classes()[worst[l]]),
			y, linkWidth/2, y, linkWidth/2, z, linkWidth, z, strings.Join(titles[l], "\n"))
	}
	p.put(`</svg>`)
}

// ends returns the rows of the other version to which an atom goes.
func (v *picture) ends(side int, a check.Atom) []int {
	if a.Class != check.Copied && a.Class != check.Mapped {
		return nil
	}
	to := []string{a.Path}
	if a.To != "" {
		to = strings.Split(a.To, ", ")
	}
	var rows []int
	for _, path := range to {
		if i, shown := v.at[1-side][path]; shown {
			rows = append(rows, i)
		}
	}
	return rows
}

func (v *picture) stub(p *htmlPage, side, i int, r *row) {
	if c := r.class(); c == check.Copied || c == check.Mapped {
		return
	}
	from, to, y := 0, stubWidth, i*rowHeight+rowHeight/2
	if side == 1 {
		from, to = linkWidth, linkWidth-stubWidth
	}
	p.put(`<g class="%s"><title>%s</title><path d="M%d %dH%d"/><circle cx="%d" cy="%d" r="4"/></g>`,
		string(r.class()), v.title(side, r), from, y, to, to, y)
}

// reasons writes what the picture shows on hover, for paper and for those who do not use a mouse.
func (v *picture) reasons(p *htmlPage) {
	p.put(`<table><thead><tr><th>Version</th><th>Place</th><th>What becomes of it</th></tr></thead><tbody>`)
	for side, d := range v.pair {
		for _, r := range v.rows[side] {
			if r.plain() {
				continue
			}
			p.put(`<tr class="%s"><td>%s</td><td><code>%s</code></td><td>`, string(r.class()), d.From, r.path)
			for i, a := range r.atoms {
				if i > 0 {
					p.put(`<br>`)
				}
				p.put(`%s`, v.says(side, a))
			}
			p.put(`</td></tr>`)
		}
		for _, a := range d.Absent {
			p.put(`<tr><td>%s</td><td><code>%s</code></td><td>may stay absent%s</td></tr>`, d.To, a.Path, by(a.Rule, a.Reason))
		}
	}
	p.put(`</tbody></table>`)
}
