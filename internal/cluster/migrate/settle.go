package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crdconvert/webhookd/internal/cluster"
)

const (
	// DefaultSettle is longer than kube-apiserver's --request-timeout, which is a minute.
	DefaultSettle = 70 * time.Second
	// skew is how much the clocks of an API server and of this machine may differ: also by a wrong
	// time zone.
	skew = 24 * time.Hour
	// connections is the number of new ones whose API servers have to agree.
	connections = 10
	// agreement is how long to wait for that.
	agreement = 2 * time.Minute
)

// settledAt returns the time from which a CRD that was first seen at a time has settled.
func settledAt(c *crd, seen time.Time, settle time.Duration) time.Time {
	if changed := c.changed(); !changed.IsZero() && changed.Before(seen.Add(-settle-skew)) {
		return seen
	}
	return seen.Add(settle)
}

// agree waits until API servers serve the versions of a CRD, and store its objects in the storage
// version: this connection's, and those of several new ones.
func agree(ctx context.Context, api *cluster.Client, c *crd) error {
	pause := 50 * time.Millisecond
	for end := time.Now().Add(agreement); ; pause = min(2*pause, time.Second) {
		err := knows(ctx, api, c)
		for i := 0; i < connections && err == nil; i++ {
			err = api.NewConnection(func(fresh *cluster.Client) error { return knows(ctx, fresh, c) })
		}
		if err == nil || time.Now().After(end) || ctx.Err() != nil {
			return err
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
		if err := c.unchanged(ctx, api); err != nil {
			return err
		}
	}
}

// knows returns an error if an API server does not know a CRD as it is.
func knows(ctx context.Context, api *cluster.Client, c *crd) error {
	for _, v := range c.versions {
		var discovered struct {
			Resources []struct {
				Name string `json:"name"`
				// Hash is of the storage version, unless it is not served.
				Hash string `json:"storageVersionHash"`
			} `json:"resources"`
		}
		err := api.Get(ctx, "/apis/"+c.Spec.Group+"/"+v.Name, &discovered)
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		served, hash := false, ""
		for _, r := range discovered.Resources {
			if r.Name == c.Spec.Names.Plural {
				served, hash = true, r.Hash
			}
		}
		switch {
		case served != v.Served:
			return fmt.Errorf("%s: an API server does not know yet whether the CRD serves %s, try again later", c.Metadata.Name, v.Name)
		case served && c.readAt() == c.state().storage() && hash != storageVersionHash(c):
			return fmt.Errorf("%s: an API server does not know the storage version of the CRD yet, try again later", c.Metadata.Name)
		}
	}
	return nil
}

// storageVersionHash is k8s.io/apiserver/pkg/endpoints/discovery.StorageVersionHash.
func storageVersionHash(c *crd) string {
	sum := sha256.Sum256([]byte(c.Spec.Group + "/" + c.state().storage() + "/" + c.Spec.Names.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
