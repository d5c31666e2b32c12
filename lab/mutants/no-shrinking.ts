import fc from 'fast-check'

// The first counterexample kills the mutant, so shrinking it would only waste time.
fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true })
