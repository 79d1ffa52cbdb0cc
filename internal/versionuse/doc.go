// Package versionuse says how the versions of a CRD were used: in the last 30 days by Prometheus,
// or since it started by one API server.
//
// It must not take missing data for no use: it says of each counter for how long Prometheus has it.
package versionuse
