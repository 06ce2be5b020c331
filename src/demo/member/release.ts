/** What a Kubernetes release can do, by its version. */

export interface Release {
  readonly major: string
  readonly minor: string
  readonly gitVersion: string
}

/** Reads `v1.33.1`, or a vendor's `v1.27.16-eks-a737599`. */
export function releaseOf(gitVersion: string): Release {
  const match = /^v(\d+)\.(\d+)\./.exec(gitVersion)
  if (!match) throw new Error(`${JSON.stringify(gitVersion)} is no Kubernetes version`)
  return { major: match[1]!, minor: match[2]!, gitVersion }
}

/** Aggregated discovery came as v2beta1 in 1.27 and as v2 in 1.30. */
export function aggregatedDiscoveryOf({ minor }: Release): readonly string[] {
  if (Number(minor) >= 30) return ['v2', 'v2beta1']
  return Number(minor) >= 27 ? ['v2beta1'] : []
}

/** OpenAPI v3 is on by default from 1.24. */
export function servesOpenApiV3({ minor }: Release): boolean {
  return Number(minor) >= 24
}

export function versionDocument(release: Release) {
  const { major, minor, gitVersion } = release
  const emulation = { emulationMajor: major, emulationMinor: minor }
  const least = { minCompatibilityMajor: major, minCompatibilityMinor: String(Number(minor) - 1) }
  return {
    major,
    minor,
    ...(Number(minor) >= 32 && { ...emulation, ...least }),
    gitVersion,
    gitCommit: '0000000000000000000000000000000000000000',
    gitTreeState: 'clean',
    buildDate: '2026-01-01T00:00:00Z',
    goVersion: 'go1.24.0',
    compiler: 'gc',
    platform: 'linux/amd64',
  }
}
