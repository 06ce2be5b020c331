/** Which part of src/ may import which, for dependency-cruiser: test/layout.test.ts runs it. */
import type { IForbiddenRuleType } from 'dependency-cruiser'

/** A folder of src/ may import itself and folders of a lower rank: never up, never sideways. */
export const RANK: Readonly<Record<string, number>> = {
  kube: 0,
  store: 1,
  printers: 1,
  registration: 2,
  sync: 3,
  fleet: 3,
  drift: 3,
  management: 4,
  apiserver: 5,
  demo: 5,
  cli: 6,
}

const layers = Object.entries(RANK).map(([folder, rank]): IForbiddenRuleType => {
  const others = Object.keys(RANK).filter((other) => other !== folder && RANK[other]! >= rank)
  return {
    name: `${folder}-imports-downwards`,
    comment: `${folder}/ (rank ${rank}) may import folders of lower rank only`,
    severity: 'error',
    from: { path: `^src/${folder}/` },
    to: { path: `^src/(${[...others, 'main\\.ts'].join('|')})` },
  }
})

export const LAYER_RULES: IForbiddenRuleType[] = [
  ...layers,
  {
    name: 'no-cycles',
    severity: 'error',
    from: {},
    to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
  },
  {
    name: 'only-the-store-speaks-sql',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/store/' },
    to: { path: 'node_modules/(pg|pg-protocol|pg-cursor|kysely)/' },
  },
  {
    name: 'only-cli-reads-the-settings',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/(cli/|config\\.ts|main\\.ts)' },
    to: { path: '^src/(config|settings)\\.ts' },
  },
  {
    name: 'kube-and-printers-are-pure',
    comment: 'no I/O: they import nothing that can do any',
    severity: 'error',
    from: { path: '^src/(kube|printers)/' },
    to: { path: '^(node:)?(fs|net|http|https|http2|child_process|tls|dns|pg|undici)(/|$)' },
  },
]
