package ruleset

// nonblock is no flag: a browser has no files.
const nonblock = 0
