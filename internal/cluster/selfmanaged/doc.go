// Package selfmanaged keeps a CA and a server's certificate in two Secrets, and their CAs in the
// caBundle of CRDs, without cert-manager. A CronJob repeats a run that makes what is missing,
// renews what is due, and replaces the CA.
//
// The law: there is never a leaf that may be served and that the caBundle of a CRD does not verify,
// whatever interrupts a run, and however many run at once. Three things keep it.
//
// A run does one step at a time and reads everything again after each. [Next], a pure function of
// the state and the time, decides the step. So the next run can continue from wherever one ended.
//
// A new CA is trusted everywhere before it issues: ca.crt and every caBundle get it first. It
// issues a leaf only after it has been there for a while ([Policy.StepDelay]), and the old CA goes
// only after that leaf has been there for as long, so kubelets, replicas and API servers have time
// to notice.
//
// Each write names the version of the object that decided it, so it fails if another client was
// faster. What is written first is read last: a run that sees a new CA in a bundle also sees it in
// the Secret.
//
// The key of the CA is in a Secret of its own, which no pod mounts: an attacker who takes over a
// server's pod gets the key of a leaf, which ends soon, and cannot make more. The CA is also
// constrained to the one name.
package selfmanaged
