/** Runs for each test file, before the file (vitest.config.ts). */
import { afterAll } from 'vitest'
import { cleanUpFile } from './clean-up.ts'

afterAll(cleanUpFile)
