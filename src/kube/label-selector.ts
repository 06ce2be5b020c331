/** Label selectors: `app in (a,b),!old` ⇄ requirements. */

export type LabelRequirement =
  | { readonly key: string; readonly operator: 'In' | 'NotIn'; readonly values: readonly string[] }
  | { readonly key: string; readonly operator: 'Exists' | 'DoesNotExist' }
  | { readonly key: string; readonly operator: 'Gt' | 'Lt'; readonly value: bigint }
