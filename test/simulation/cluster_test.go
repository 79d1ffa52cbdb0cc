package simulation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

type object = unstructured.Unstructured

// A cluster is an API server of one kind, and two replicas of webhookd.
type cluster struct {
	*kind
	t        *testing.T
	mu       sync.Mutex // held by the one request that does not wait
	replicas [2]*replica
	current  int       // generation of rules in the file
	changed  time.Time // when the file changed
	storage  string    // version
	stored   map[string]*stored
	revision int
	watches  map[string]map[string]string // by version, what was sent of each object
	intents  map[string]intent            // by object and manager
	failure  string
	certs    *certificates
	trace    func(format string, a ...any)
}

// Stored is what the API server has of an object in etcd.
type stored struct {
	text     string
	version  string
	revision int
	rules    int // by which it has always been written; -1 if there were several
}

// rules returns the rules that all replicas have had long enough, or -1.
func (c *cluster) rules() int {
	for _, r := range c.replicas {
		before, known := r.knows()
		if r.rules != c.current || len(before)+len(known) > 0 {
			return -1
		}
	}
	return c.current
}

// A call is one or several requests of a client. Only one call runs at a time, since no two wake up
// at the same nanosecond.
type call struct {
	*cluster
	*rand.Rand
	slot int
}

const slots = 64

// wait lets others run for a random time.
func (c *call) wait(least, most time.Duration) {
	c.mu.Unlock()
	defer c.mu.Lock()
	now := time.Now().UnixNano()
	until := now + int64(least) + c.Int64N(int64(most-least))
	time.Sleep(time.Duration(until/slots*slots + slots + int64(c.slot) - now)) //nolint:forbidigo // in the bubble's time
}

// latency is the time that a part of a request takes.
func (c *call) latency() { c.wait(time.Millisecond, 2*time.Second) }

func (c *call) fail(format string, a ...any) {
	if c.failure == "" {
		c.failure = fmt.Sprintf(format, a...)
	}
}

// replica returns the one that a request of the API server reaches.
func (c *call) replica() *replica {
	r := c.replicas[c.IntN(2)]
	if r.down {
		r = c.replicas[1-slices.Index(c.replicas[:], r)]
	}
	return r
}

// convert is a call of the webhook, which must not fail.
func (c *call) convert(r *replica, version string, objects ...*object) {
	err := c.connect(r)
	if err == nil {
		err = r.convert(version, objects...)
	}
	if err != nil {
		c.fail("failed: a conversion to %s: %v", version, err)
	}
}

// prune removes what the API server does not store or serve.
func (k *kind) prune(o *object) {
	s := k.schemas[o.GroupVersionKind().Version]
	pruning.Prune(o.Object, s, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(o.Object, s)
}

// Default fills in defaults, as the API server does in what it has stored or received.
func (k *kind) Default(o runtime.Object) {
	u := o.(*object) //nolint:forcetypeassert // there is no other
	k.prune(u)
	defaulting.Default(u.Object, k.schemas[u.GroupVersionKind().Version])
}

// New makes an empty object.
func (*kind) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	o := &object{}
	o.SetGroupVersionKind(gvk)
	return o, nil
}

// show returns what clients see of stored objects at a version, through a replica.
func (c *call) show(r *replica, version string, all ...*stored) []*object {
	objects := make([]*object, len(all))
	for i, s := range all {
		objects[i] = &object{}
		if err := objects[i].UnmarshalJSON([]byte(s.text)); err != nil {
			c.t.Fatal(err)
		}
		c.Default(objects[i])
		objects[i].SetResourceVersion(fmt.Sprint(s.revision))
	}
	c.convert(r, version, objects...)
	return objects
}

// A converter converts what clients apply and what they own.
type converter struct {
	*call
	runtime.ObjectConvertor // the rest is not called
}

func (c converter) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	o := in.DeepCopyObject().(*object) //nolint:forcetypeassert // there is no other
	gvk, _ := to.KindForGroupVersionKinds([]schema.GroupVersionKind{o.GroupVersionKind()})
	c.convert(c.replica(), gvk.Version, o)
	return o, nil
}

// A change makes an object of what a client sends and what there is.
type change func(m *managedfields.FieldManager, live *object) (runtime.Object, error)

var errConflict = errors.New("another write came between")

// write stores what a change makes of an object that a client has read, or of what there is. The
// spec that the client gives up may change, too.
func (c *call) write(what, name, version string, read *object, givesUp map[string]any, changed change) error {
	c.latency()
	before, gvk := c.stored[name], schema.GroupVersionKind{Group: group, Version: version, Kind: "Job"}
	live := &object{}
	live.SetGroupVersionKind(gvk)
	if before != nil {
		live = c.show(c.replica(), version, before)[0]
	}
	if read != nil && (before == nil || read.GetUID() != live.GetUID() || read.GetResourceVersion() != live.GetResourceVersion()) {
		return errConflict
	}
	if read == nil {
		read = live.DeepCopy()
	}
	merge, err := managedfields.NewDefaultCRDFieldManager(c.types, converter{call: c}, c.kind, c.kind, gvk, gvk.GroupVersion(), "", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	made, err := changed(merge, live)
	if err != nil {
		return err
	}
	next := made.(*object) //nolint:forcetypeassert // there is no other
	if before == nil {
		next.SetName(name)
		next.SetNamespace("default")
		next.SetUID(types.UID(fmt.Sprint("uid-", c.revision)))
		next.SetCreationTimestamp(metav1.Now())
	}
	c.latency()
	r, stores := c.replica(), next.DeepCopy()
	stores.SetResourceVersion("")
	c.convert(r, c.storage, stores)
	text, after := string(jsonOf(stores.Object)), before
	c.latency()
	if c.stored[name] != before {
		return errConflict
	}
	if before == nil || before.text != text {
		c.revision++
		after = &stored{text, c.storage, c.revision, c.rules()}
		if before != nil && before.rules != after.rules {
			after.rules = -1
		}
		c.stored[name] = after
	}
	c.trace("%s of %s at %s, stored at %s: %s", what, name, version, after.version, visible(next))
	c.judge(&written{what, name, version, read, next, givesUp, before, after, r})
	return nil
}

func jsonOf(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

// Seen is what users see of an object: its spec, labels and annotations but webhookd's.
type seen map[string]any

func (s seen) String() string { return string(jsonOf(s)) }

func visible(o *object) seen {
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	maps.DeleteFunc(annotations, func(k, _ string) bool { return strings.Contains(k, "conversion.webhookd.io/") })
	return seen{"spec": o.Object["spec"], "metadata": fmt.Sprint(labels, annotations)}
}
