// Package selfmanaged keeps a CA and a server's certificate in two Secrets, and their CAs in the caBundle of CRDs, without
// cert-manager: a run that is repeated, by a CronJob, makes what is missing, renews what is due, and replaces the CA.
//
// The law: at no time is there a leaf that may be served and that the caBundle of a CRD does not verify, whatever a run is
// interrupted by, and however many run at once. Three things keep it.
//
// A run does one step after the other, and looks at everything anew after each; what is next is [Next], a pure function of
// what there is and the time. So a run that ends anywhere has left a state that the next one goes on from.
//
// A new CA is trusted everywhere before it issues: it comes into ca.crt and every caBundle first. Only when it has been
// there for a while ([Policy.Settle]) does it issue a leaf, and only when that leaf has been there for as long does the old
// CA go, so that kubelets, replicas and API servers have had the time to take notice.
//
// Each write names the version of the object that it was decided by, so that it fails if somebody was faster. What is
// written first is read last: whoever sees a new CA in a bundle sees it in the Secret too.
//
// The key of the CA is in a Secret of its own, which no pod mounts: who takes over a server's pod gets the key of a leaf,
// which ends soon, and cannot make more. The CA is constrained to the one name besides.
package selfmanaged
