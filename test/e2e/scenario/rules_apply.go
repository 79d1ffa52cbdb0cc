package scenario

// relayTeams returns a manager at each version. That of v1alpha1 applies fields that others have
// elsewhere and one of its own, that of v1 only one of its own.
func relayTeams(s subject, name string) (dev, beta, ops applier) {
	return applier{subject: s, manager: "dev", version: "v1alpha1", name: name},
		applier{subject: s, manager: "beta", version: "v1beta1", name: name},
		applier{subject: s, manager: "ops", version: "v1", name: name}
}

// relayManagerMoves has a manager apply at one version after the other, next to others at two of
// them.
func relayManagerMoves(s subject) {
	at := map[string]struct{ applies, owns string }{
		"v1alpha1": {
			`"spec":{"host":"localhost","port":"1234","rate":1,"mode":"all","note":"mine"}`,
			".spec.host .spec.mode .spec.note .spec.port .spec.rate",
		},
		"v1beta1": {
			`"spec":{"hostPort":"localhost:1234","rate":1,"applyMode":"Always"}`,
			".spec.applyMode .spec.hostPort .spec.rate",
		},
		"v1": {
			`"spec":{"upstream":{"host":"localhost","port":"1234"},"limits":{"rate":1},"policy":"Apply"}`,
			".spec.limits.rate .spec.policy .spec.upstream.host .spec.upstream.port",
		},
	}
	mover, beta, ops := relayTeams(s, "moved")
	const betas, opss = `"spec":{"size":2}`, `"spec":{"limits":{"burst":2}}`
	beta.apply(betas)
	ops.apply(opss)
	for _, version := range []string{"v1alpha1", "v1beta1", "v1", "v1alpha1", "v1", "v1beta1", "v1alpha1"} {
		mover.version = version
		mover.apply(at[version].applies)
		mover.again(at[version].applies)
		s.wants("v1beta1", "moved", `"spec":{"size":2,"hostPort":"localhost:1234","rate":1,"applyMode":"Always"}`)
		mover.owners(map[string]string{
			"dev " + version: at[version].owns, "beta v1beta1": ".spec.size", "ops v1": ".spec.limits.burst",
		})
	}
	beta.again(betas)
	ops.again(opss)
	s.wants("v1alpha1", "moved", `"spec":{"size":2,"host":"localhost","port":"1234","rate":1,"mode":"all","note":"mine"}`)
}

// labelsMove does so with labels: the API server then sends what is left of the object without the
// manager's fields, which has no metadata (kubernetes#117356). Where there are managers at three
// versions, it may make that a metadata of null of its own accord, and refuse that itself. It goes
// over the versions in any order, so that one of a few tries succeeds.
func labelsMove(s subject) {
	dev, beta, ops := relayTeams(s, "labelled")
	mover := beta
	mover.manager, mover.labels = "mover", map[string]string{"team": "movers"}
	dev.apply(`"spec":{"note":"mine"}`)
	beta.apply(`"spec":{"size":2}`)
	ops.apply(`"spec":{"limits":{"burst":2}}`)
	mover.apply(`"spec":{"hostPort":"localhost:1234"}`)
	const moved = `"spec":{"upstream":{"host":"localhost","port":"1234"}}`
	mover.version = "v1"
	Succeeds(s.t, "an apply at another version", func() error {
		_, err := mover.try(moved, false)
		if err != nil {
			failsWith(s.t, "apply with labels at another version", err,
				"returned invalid metadata: invalid metadata of type <nil> in input object")
		}
		return err
	})
	mover.again(moved)
	mover.owners(map[string]string{
		"dev v1alpha1": ".spec.note",
		"beta v1beta1": ".spec.size",
		"ops v1":       ".spec.limits.burst",
		"mover v1":     ".metadata.labels.team .spec.upstream.host .spec.upstream.port",
	})
	s.wants("v1alpha1", "labelled", `"spec":{"size":2,"host":"localhost","port":"1234","note":"mine"}`)
	s.storedAs("v1beta1", "labelled", `"spec":{"size":2,"hostPort":"localhost:1234"}`)
}
