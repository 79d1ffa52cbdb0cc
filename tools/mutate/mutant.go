package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A mutant is one change of the code. The file is named from the root of the repository; the
// change says what is done to which code, and is unique in its function.
type mutant struct {
	file, function, change string
	line                   int
}

// name is how the list of equivalent mutants names m. It has no line, which other changes move.
func (m mutant) name() string { return m.file + "\t" + m.function + "\t" + m.change }

// A source is a file that gets all its mutants at once. mutant(n), of switches, reports whether
// the n-th one is on. Where it can, the code asks only if the mutant would make a difference.
type source struct {
	name, function string
	text           []byte
	fset           *token.FileSet
	info           *types.Info
	before, after  map[int]string // inserted at an offset: what opens there, and what closes there
	mutants        *[]mutant      // of all files; a number is an index and 1
	names          map[string]int
}

// switches is added to each package. MUTANT picks the mutant that is on. MUTANT_LOG names a file
// for those that are reached.
const switches = `package %s

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

var (
	mutantOn, _   = strconv.Atoi(os.Getenv("MUTANT"))
	mutantLog, _  = os.OpenFile(os.Getenv("MUTANT_LOG"), os.O_APPEND|os.O_WRONLY, 0)
	mutantReached sync.Map
)

func mutant(n int) bool {
	if mutantLog != nil {
		if _, reached := mutantReached.LoadOrStore(n, true); !reached {
			fmt.Fprintln(mutantLog, n)
		}
	}
	return n == mutantOn
}

func mutantSum[T interface{ ~int|~int8|~int16|~int32|~int64|~uint|~uint8|~uint16|~uint32|~uint64|~uintptr }](n int, sum, y T, plus bool) T {
	switch {
	case !mutant(n):
		return sum
	case plus:
		return sum - y - y
	}
	return sum + y + y
}
`

const overlay = "overlay.json" // in the scratch folder, for the go command

// instrument writes the packages in folders with all their mutants, and returns these.
func instrument(ctx context.Context, folders []string, scratch string) (mutants []mutant, err error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	config := packages.Config{Context: ctx, Mode: packages.NeedName | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo}
	var patterns []string
	for _, folder := range folders {
		patterns = append(patterns, "./"+folder)
	}
	loaded, err := packages.Load(&config, patterns...)
	if err != nil || packages.PrintErrors(loaded) > 0 {
		return nil, cmp.Or(err, errors.New("the code does not build"))
	}
	replace := map[string]string{}
	write := func(path string, text []byte) error {
		replace[path] = filepath.Join(scratch, strconv.Itoa(len(replace))+".go")
		return os.WriteFile(replace[path], text, 0o600)
	}
	for _, p := range loaded {
		var folder string
		for _, file := range p.Syntax {
			path := p.Fset.File(file.Pos()).Name()
			name, _ := filepath.Rel(root, path)
			folder = filepath.Dir(path)
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			s := &source{name, "", text, p.Fset, p.TypesInfo, map[int]string{}, map[int]string{}, &mutants, map[string]int{}}
			for _, d := range file.Decls {
				s.declaration(d)
			}
			if err := write(path, s.instrumented()); err != nil {
				return nil, err
			}
		}
		if err := write(filepath.Join(folder, "zz_mutant.go"), fmt.Appendf(nil, switches, p.Name)); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	return mutants, os.WriteFile(filepath.Join(scratch, overlay), text, 0o600)
}

// code is the text of a node.
func (s *source) code(n ast.Node) string {
	return string(s.text[s.offset(n.Pos()):s.offset(n.End())])
}

func (s *source) offset(p token.Pos) int { return s.fset.Position(p).Offset }

// mutate makes a mutant of n: opening and closing go around it, with the mutant's number for %d.
func (s *source) mutate(n ast.Node, change, opening, closing string) {
	m := mutant{s.name, s.function, change, s.fset.Position(n.Pos()).Line}
	if code := strings.Join(strings.Fields(s.code(n)), " "); len(code) > 90 {
		m.change += ": " + code[:90] + "..."
	} else {
		m.change += ": " + code
	}
	s.names[m.name()]++
	if i := s.names[m.name()]; i > 1 {
		m.change += fmt.Sprintf(" (%d)", i)
	}
	*s.mutants = append(*s.mutants, m)
	number := fmt.Sprint(len(*s.mutants))
	from, to := s.offset(n.Pos()), s.offset(n.End())
	s.before[from] += strings.ReplaceAll(opening, "%d", number)
	s.after[to] = strings.ReplaceAll(closing, "%d", number) + s.after[to]
}

// condition makes a condition always true, always false, or each once.
func (s *source) condition(e ast.Expr, always, never bool) {
	if t := s.info.Types[e]; t.Value != nil || !types.Identical(types.Default(t.Type), types.Typ[types.Bool]) {
		return
	}
	if always {
		s.mutate(e, "always", "((", ") || mutant(%d))")
	}
	if never {
		s.mutate(e, "never", "((", ") && !mutant(%d))")
	}
}

// decision is a condition on its own: with operands, the other value comes of leaving them out.
func (s *source) decision(e ast.Expr) {
	b, _ := e.(*ast.BinaryExpr)
	s.condition(e, b == nil || b.Op != token.LAND, b == nil || b.Op != token.LOR)
}

func (s *source) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		s.decision(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			s.condition(n.Cond, false, true)
		}
	case *ast.SwitchStmt:
		for _, clause := range n.Body.List {
			for _, e := range clause.(*ast.CaseClause).List {
				if n.Tag == nil {
					s.decision(e)
				}
			}
		}
	case *ast.BinaryExpr:
		s.binary(n)
	case *ast.BlockStmt:
		s.statements(n.List)
	case *ast.CaseClause:
		s.statements(n.Body)
	case *ast.CommClause:
		s.statements(n.Body)
	}
	return true
}

func (s *source) binary(n *ast.BinaryExpr) {
	x, y := s.code(n.X), s.code(n.Y)
	t := s.info.Types[n]
	switch n.Op { //nolint:exhaustive // others are not mutated
	case token.LAND, token.LOR:
		for _, operand := range []ast.Expr{n.X, n.Y} {
			if b, ok := operand.(*ast.BinaryExpr); !ok || b.Op != n.Op {
				s.condition(operand, n.Op == token.LAND, n.Op == token.LOR)
			}
		}
	case token.LSS, token.GTR:
		if t.Value == nil && s.isPure(n.X) && s.isPure(n.Y) {
			s.mutate(n, "or equal", "(", " || "+x+" == "+y+" && mutant(%d))")
		}
	case token.LEQ, token.GEQ:
		if t.Value == nil && s.isPure(n.X) && s.isPure(n.Y) {
			s.mutate(n, "not equal", "(", " && !("+x+" == "+y+" && mutant(%d)))")
		}
	case token.ADD, token.SUB:
		basic, _ := t.Type.Underlying().(*types.Basic)
		if t.Value != nil || basic == nil || basic.Info()&types.IsInteger == 0 || !s.isPure(n.Y) {
			return
		}
		s.mutate(n, "other sign", "mutantSum(%d, ", fmt.Sprintf(", %s, %t)", y, n.Op == token.ADD))
	}
}

// isPure reports whether an expression may be evaluated twice.
func (s *source) isPure(e ast.Expr) bool {
	pure := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name, _ := n.Fun.(*ast.Ident)
			pure = pure && (s.info.Types[n.Fun].IsType() || name != nil && name.Name == "len")
		case *ast.UnaryExpr:
			pure = pure && n.Op != token.ARROW
		}
		return pure
	})
	return pure
}

// statements leaves out each statement that the rest builds without.
func (s *source) statements(list []ast.Stmt) {
	for _, statement := range list {
		switch n := statement.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				continue
			}
		case *ast.ExprStmt:
			if strings.HasPrefix(s.code(n), "panic(") {
				continue
			}
		case *ast.DeferStmt, *ast.GoStmt, *ast.IncDecStmt, *ast.SendStmt:
		default:
			continue
		}
		s.mutate(statement, "without", "if !mutant(%d) { ", " }")
	}
}

// declaration mutates a function, which may also return zero values at once.
func (s *source) declaration(d ast.Decl) {
	f, ok := d.(*ast.FuncDecl)
	if !ok {
		s.function = "var"
		ast.Inspect(d, s.visit)
		return
	}
	s.function = f.Name.Name
	if f.Recv != nil {
		s.function = strings.Trim(s.code(f.Recv.List[0].Type), "*") + "." + s.function
	}
	if f.Body == nil || len(f.Body.List) == 0 {
		return
	}
	var zeros []string
	if f.Type.Results != nil {
		for _, r := range f.Type.Results.List {
			if r.Names == nil {
				zeros = append(zeros, "*new("+s.code(r.Type)+")")
			}
		}
	}
	if name := f.Name; f.Type.Results != nil || len(f.Body.List) > 1 {
		s.mutate(name, "returns at once", "", "")
		s.before[s.offset(f.Body.List[0].Pos())] += fmt.Sprintf("if mutant(%d) { return %s }; ", len(*s.mutants), strings.Join(zeros, ", "))
	}
	ast.Inspect(f.Body, s.visit)
}

// instrumented is the text with all mutants.
func (s *source) instrumented() []byte {
	var out bytes.Buffer
	for i := range len(s.text) + 1 {
		out.WriteString(s.after[i] + s.before[i])
		out.Write(s.text[i:min(i+1, len(s.text))])
	}
	return out.Bytes()
}
