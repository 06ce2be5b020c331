/** Field selectors over any path: `status.phase notin (Running),spec.containers[].name=main`. */

/** One step of a path: an object key, any element of a list, or the element at an index. */
export type PathStep =
  | { readonly key: string }
  | { readonly every: true }
  | { readonly index: number }

export type FieldPath = readonly PathStep[]

/**
 * `In` holds when a value at the path, spelled as JSON spells it (strings without quotes), is one
 * of `values`. `NotIn` holds exactly when `In` does not, so also for objects that lack the path.
 */
export type FieldRequirement =
  | {
      readonly path: FieldPath
      readonly operator: 'In' | 'NotIn'
      readonly values: readonly string[]
    }
  | { readonly path: FieldPath; readonly operator: 'Exists' | 'DoesNotExist' }
