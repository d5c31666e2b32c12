import fc from 'fast-check'

// The first counterexample kills a mutant, so shrinking it would only take time.
fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true })
