export interface Build {
  readonly version: string
  readonly commit: string
  /** Whether the work tree had changes that are not in the commit. */
  readonly changed: boolean
  /** SHA-256 of package-lock.json. */
  readonly lock: string
  readonly node: string
  readonly builtAt: string
  /** SHA-256 by the name of the file. */
  readonly files: Readonly<Record<string, string>>
}

/** How the files of a release were made: an unsigned in-toto statement with SLSA provenance 1.0. */
export function provenanceOf({ version, commit, changed, lock, node, builtAt, files }: Build): object {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: Object.entries(files).map(([name, sha256]) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:portage:release',
        externalParameters: { command: 'npm run release', version },
        internalParameters: { changed },
        resolvedDependencies: [
          { name: 'sources', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: lock } },
          { name: 'node', annotations: { version: node } },
        ],
      },
      runDetails: { builder: { id: 'urn:portage:scripts/release.ts' }, metadata: { finishedOn: builtAt } },
    },
  }
}
