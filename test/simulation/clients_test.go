package simulation_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// actions are what happens in a cluster, each as often as it is named.
func actions() []string {
	return []string{
		"create", "create", "create", "edit", "edit", "edit", "edit", "edit", "touch", "apply", "apply", "apply", "give up", "give up",
		"delete", "list", "watch", "store", "migrate", "change rules", "restart", "rotate",
	}
}

func (c *call) act(action string) {
	name, version := []string{"x", "y"}[c.IntN(2)], c.versions[c.IntN(len(c.versions))]
	switch action {
	case "create":
		c.create(name, version)
	case "edit":
		c.update("edit", name, version)
	case "touch":
		c.touch(name, version)
	case "apply", "give up":
		c.apply(name, version, fmt.Sprint("manager-", c.IntN(2)), action == "give up")
	case "delete":
		c.latency()
		delete(c.stored, name)
		c.trace("deletion of %s", name)
	case "list", "watch":
		c.list(version, action == "watch")
	case "store":
		if c.rules() >= 0 { // webhookd's copy of the CRD changes, too
			c.storage = version
			c.trace("%s is stored", version)
		}
	case "migrate":
		for _, name := range slices.Sorted(maps.Keys(c.stored)) {
			c.touch(name, c.storage)
		}
	case "change rules":
		c.changeRules()
	case "restart":
		c.restart()
	case "rotate":
		c.rotate()
	}
}

func (c *call) create(name, version string) {
	o := &object{Object: map[string]any{"apiVersion": group + "/" + version, "kind": "Job", "spec": c.value(c.spec(version))}}
	_ = c.write("creation", name, version, nil, nil, func(m *managedfields.FieldManager, live *object) (runtime.Object, error) {
		if live.GetName() != "" {
			return nil, fmt.Errorf("it exists")
		}
		c.Default(o)
		return m.UpdateNoErrors(live, o, "creator"), nil
	})
}

// touch writes an object as it was read.
func (c *call) touch(name, version string) { c.update("touch", name, version) }

// update reads an object, thinks, and writes it. A write in the second of the creation would count
// as it.
func (c *call) update(what, name, version string) {
	c.latency()
	if c.stored[name] == nil {
		return
	}
	read := c.show(c.replica(), version, c.stored[name])[0]
	c.wait(2*time.Second, 90*time.Second)
	next := read.DeepCopy()
	if what == "edit" {
		for range 1 + c.IntN(2) {
			c.edit(next, c.spec(version))
		}
	}
	_ = c.write(what, name, version, read, nil, func(m *managedfields.FieldManager, live *object) (runtime.Object, error) {
		c.Default(next)
		return m.UpdateNoErrors(live, next, "editor"), nil
	})
}

// An intent is what a manager has applied.
type intent struct {
	version string
	spec    map[string]any
}

// apply applies fields, or gives up some of those that the manager has applied at the version.
func (c *call) apply(name, version, manager string, givesUp bool) {
	last := c.intents[name+" "+manager]
	next := intent{version, c.value(c.spec(version)).(map[string]any)} //nolint:forcetypeassert // as its schema says
	if givesUp {
		next = intent{last.version, runtime.DeepCopyJSON(last.spec)}
		if version = last.version; version == "" {
			return
		}
		for _, field := range slices.Sorted(maps.Keys(next.spec)) {
			if c.IntN(2) == 0 {
				delete(next.spec, field)
			}
		}
	}
	c.wait(2*time.Second, 3*time.Second)
	fragment := object{Object: map[string]any{"apiVersion": group + "/" + version, "kind": "Job", "metadata": map[string]any{"name": name}, "spec": next.spec}}
	force := c.IntN(2) == 0
	for range 3 {
		err := c.write("apply", name, version, nil, last.spec, func(m *managedfields.FieldManager, live *object) (runtime.Object, error) {
			return m.Apply(live, fragment.DeepCopy(), manager, force)
		})
		if err == nil {
			c.judgeGivenUp(name, manager, last, next)
			c.intents[name+" "+manager] = next
		}
		if !errors.Is(err, errConflict) {
			return
		}
	}
}

// list reads all objects in one review, and perhaps watches them from then on.
func (c *call) list(version string, watches bool) {
	c.latency()
	all := make([]*stored, 0, len(c.stored))
	for _, name := range slices.Sorted(maps.Keys(c.stored)) {
		all = append(all, c.stored[name])
	}
	sent := map[string]string{}
	for _, o := range c.show(c.replica(), version, all...) {
		sent[o.GetName()] = visible(o).String()
	}
	if watches {
		c.watches[version] = sent
	}
}

// changeRules replaces the file of rules; each replica reads it within a minute.
func (c *call) changeRules() {
	c.current, c.changed = (c.current+1+c.IntN(generations-1))%generations, time.Now()
	c.trace("rules %d", c.current)
	for _, i := range c.Perm(2) {
		c.wait(time.Second, 30*time.Second)
		c.replicas[i].reload()
		c.trace("replica %d has rules %d", i, c.replicas[i].rules)
	}
}

// restart replaces a replica, unless some do not have the rules yet or clients may still write what
// they have read by earlier rules.
func (c *call) restart() {
	r := c.replicas[c.IntN(2)]
	if time.Since(c.changed) < 4*time.Minute || c.replicas[0].down || c.replicas[1].down {
		return
	}
	r.down = true
	c.wait(5*time.Second, 30*time.Second)
	r.start()
	c.trace("replica %d has restarted", slices.Index(c.replicas[:], r))
}

func (c *call) spec(version string) *structuralschema.Structural {
	spec := c.schemas[version].Properties["spec"]
	return &spec
}

// edit changes a field of an object, or a label.
func (c *call) edit(o *object, s *structuralschema.Structural) {
	if c.IntN(8) == 0 {
		o.SetLabels(map[string]string{"a": fmt.Sprint(c.IntN(3))})
		return
	}
	spec, ok := o.Object["spec"].(map[string]any)
	if !ok {
		spec = map[string]any{}
	}
	o.Object["spec"] = c.edited(spec, s)
}

// edited returns a value with a change.
func (c *call) edited(v any, s *structuralschema.Structural) any {
	switch v := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(s.Properties))
		name := names[c.IntN(len(names))]
		field := s.Properties[name]
		switch old, ok := v[name]; {
		case name == "name":
		case !ok:
			v[name] = c.value(&field)
		case c.IntN(4) == 0:
			delete(v, name)
		default:
			v[name] = c.edited(old, &field)
		}
		return v
	case []any:
		if s.Items.Type == "object" && len(v) > 0 && c.IntN(2) == 0 {
			i := c.IntN(len(v))
			v[i] = c.edited(v[i], s.Items)
			return v
		}
	}
	return c.value(s)
}

// value returns a random value of a schema.
func (c *call) value(s *structuralschema.Structural) any {
	if s.ValueValidation != nil && len(s.ValueValidation.Enum) > 0 {
		return s.ValueValidation.Enum[c.IntN(len(s.ValueValidation.Enum))].Object
	}
	switch s.Type {
	case "object":
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if field := s.Properties[name]; name == "name" || c.IntN(2) == 0 {
				out[name] = c.value(&field)
			}
		}
		return out
	case "array":
		out, names := []any{}, map[any]bool{}
		for range c.IntN(3) {
			e := c.value(s.Items)
			if m, ok := e.(map[string]any); ok {
				if names[m["name"]] {
					continue
				}
				names[m["name"]] = true
			}
			out = append(out, e)
		}
		return out
	case "integer":
		return int64(c.IntN(4))
	}
	return string(rune('p' + c.IntN(4)))
}
