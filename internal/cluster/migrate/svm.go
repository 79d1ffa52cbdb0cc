package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	migrationGroup = "storagemigration.k8s.io"
	migrationsAPI  = "/apis/" + migrationGroup + "/v1/storageversionmigrations"
	// ofCRD is the annotation with the CRD that a migration was made for.
	ofCRD = "webhookd.io/crd-generation"
	// transientError is in the message of Running if the controller tries an object again. It does
	// so without end, even if the object cannot be converted.
	transientError = "transient error: "
	// migrationEnd is how long the controller may take to end its work on the CRD.
	migrationEnd = time.Minute
)

// A migration is a StorageVersionMigration.
type migration struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   migrationMetadata `json:"metadata"`
	Spec       struct {
		Resource struct {
			Group    string `json:"group"`
			Resource string `json:"resource"`
		} `json:"resource"`
	} `json:"spec"`
	Status struct {
		Conditions []struct {
			Type    string `json:"type"`
			Status  string `json:"status"`
			Message string `json:"message"`
		} `json:"conditions,omitempty"`
	} `json:"status,omitzero"`
}

type migrationMetadata struct {
	Name        string            `json:"name"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// condition returns the message of a condition that is true.
func (m *migration) condition(name string) (message string, is bool) {
	for _, c := range m.Status.Conditions {
		if c.Type == name && c.Status == "True" {
			return c.Message, true
		}
	}
	return "", false
}

// hasMigrations reports whether the API server has StorageVersionMigration v1, which also sets
// status.storedVersions (Kubernetes 1.37).
func (r *run) hasMigrations(ctx context.Context) (bool, error) {
	err := r.api.Get(ctx, "/apis/"+migrationGroup+"/v1", nil)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// migrate has the controller of StorageVersionMigration write the objects. If it cannot, the run
// writes them by itself.
func (r *run) migrate(ctx context.Context) error {
	err := r.byController(ctx)
	if apierrors.IsForbidden(err) {
		return r.instead("%v", err)
	}
	return err
}

// instead has the run write the objects. A controller that writes them as well does no harm.
func (r *run) instead(format string, args ...any) error {
	r.goal.Rewrite = true
	r.Log(format+"; the objects are written without it", args...)
	return nil
}

func (r *run) byController(ctx context.Context) error {
	name := "webhookd-" + r.crd.Metadata.Name
	path := migrationsAPI + "/" + name
	of := fmt.Sprintf("%s/%d", r.crd.Metadata.UID, r.crd.Metadata.Generation)
	c := &controller{begun: time.Now(), fine: time.Now()}
	for first := true; ; first = false {
		m := migration{}
		err := r.api.Get(ctx, path, &m)
		failure, failed := m.condition("Failed")
		message, running := m.condition("Running")
		_, succeeded := m.condition("Succeeded")
		isStuck := c.isStuck(message, running, r.ControllerPatience)
		switch {
		case apierrors.IsNotFound(err):
			if err := r.createMigration(ctx, name, of); err != nil {
				return err
			}
			r.Log("created the StorageVersionMigration %s", name)
		case err != nil:
			return err
		case m.Metadata.Annotations[ofCRD] != of || failed && first:
			// It is of another generation, or of a run that is over.
			if err := r.deleteMigration(ctx, path); err != nil {
				return err
			}
		case failed:
			return fmt.Errorf("StorageVersionMigration %s failed, correct that and run this again, or with --rewrite: %s", name, failure)
		case succeeded:
			return r.awaitPruned(ctx)
		case isStuck && running:
			return r.instead("the controller of StorageVersionMigration has had errors for %s", r.ControllerPatience)
		case isStuck:
			if err := r.deleteMigration(ctx, path); err != nil {
				return err
			}
			return r.instead("the controller of StorageVersionMigration has not begun within %s", r.ControllerPatience)
		case running:
			if err := r.follow(ctx, c, name, message); err != nil {
				return err
			}
		}
		if err := sleep(ctx, 500*time.Millisecond); err != nil {
			return err
		}
		if err := r.crd.unchanged(ctx, r.api); err != nil {
			return err
		}
	}
}

// A controller is what is known of the one that works on a migration.
type controller struct {
	begun, fine time.Time // fine is when it was last seen to work
	said        string
	nudged      bool
}

// isStuck reports whether the controller has not worked for longer than a time.
func (c *controller) isStuck(message string, running bool, patience time.Duration) bool {
	if running && !strings.Contains(message, transientError) {
		c.fine = time.Now()
	}
	return time.Since(c.fine) > patience
}

// follow logs what the controller says. It also makes a change, since the controller waits until it
// has seen one that is newer than the migration.
func (r *run) follow(ctx context.Context, c *controller, name, message string) error {
	if message != c.said {
		r.Log("StorageVersionMigration %s: %s", name, message)
		c.said = message
	}
	if c.nudged || time.Since(c.begun) < 2*time.Second {
		return nil
	}
	c.nudged = true
	p := r.newPass(rewrite)
	p.always, p.firstPage = true, true
	return p.run(ctx)
}

func (r *run) createMigration(ctx context.Context, name, of string) error {
	m := migration{APIVersion: migrationGroup + "/v1", Kind: "StorageVersionMigration"}
	m.Metadata = migrationMetadata{Name: name, Annotations: map[string]string{ofCRD: of}}
	m.Spec.Resource.Group, m.Spec.Resource.Resource = r.crd.Spec.Group, r.crd.Spec.Names.Plural
	err := r.api.Create(ctx, migrationsAPI, m)
	if apierrors.IsAlreadyExists(err) {
		return nil // of another run
	}
	return err
}

func (r *run) deleteMigration(ctx context.Context, path string) error {
	if err := r.api.Delete(ctx, path); !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}

// awaitPruned waits until the controller has set status.storedVersions.
func (r *run) awaitPruned(ctx context.Context) error {
	for end := time.Now().Add(migrationEnd); time.Now().Before(end); {
		now, err := readCRD(ctx, r.api, r.crd.Metadata.Name)
		switch {
		case err != nil:
			return err
		case !now.is(r.crd):
			return errChanged
		case slices.Equal(now.Status.StoredVersions, []string{r.goal.To}):
			return nil
		}
		if err := sleep(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
	return r.instead("the StorageVersionMigration succeeded, but status.storedVersions is as it was")
}
