/**
 * The SQL of one label requirement, on rows `o` of table `object`.
 *
 * `NotIn` also keeps objects that lack the label: that is what Kubernetes does, and it is the case
 * people forget. Gt and Lt read the label from the stored text, where the key's token found it.
 *
 * @see apimachinery/pkg/labels/selector.go, Requirement.Matches
 */
import { type RawBuilder, sql } from 'kysely'
import type { LabelRequirement } from '../kube/label-selector.ts'
import { childPath, fieldToken, labelKeyPath, typeSeed } from '../kube/search-token.ts'
import { unreachable } from '../kube/unreachable.ts'
import type { TypeNames } from './condition-filter.ts'
import { bigintArray } from './sql-value.ts'
import { valuesAt } from './values-at-path.ts'

export function matchesLabel(requirement: LabelRequirement, types: TypeNames): RawBuilder<boolean> {
  const hasKey = hasToken(
    types.map((type) => fieldToken(labelKeyPath(typeSeed(type)), requirement.key)),
  )
  switch (requirement.operator) {
    case 'In':
      return hasToken(labelTokens(requirement, types))
    case 'NotIn':
      return sql`not ${hasToken(labelTokens(requirement, types))}`
    case 'Exists':
      return hasKey
    case 'DoesNotExist':
      return sql`not ${hasKey}`
    case 'Gt':
    case 'Lt':
      return sql`(${hasKey} and ${comparesAs(requirement)})`
    default:
      return unreachable(requirement)
  }
}

function labelTokens(
  { key, values }: { key: string; values: readonly string[] },
  types: TypeNames,
): readonly bigint[] {
  return types.flatMap((type) => {
    const labels = childPath(childPath(typeSeed(type), 'metadata'), 'labels')
    const path = childPath(labels, key)
    return values.map((value) => fieldToken(path, value))
  })
}

/** True when one of the tokens is the object's. */
export function hasToken(tokens: readonly bigint[]): RawBuilder<boolean> {
  return sql`o.tokens && ${bigintArray(tokens)}`
}

/** As strconv.ParseInt reads the label: anything but an int64 matches neither. */
function comparesAs({
  key,
  operator,
  value,
}: {
  key: string
  operator: 'Gt' | 'Lt'
  value: bigint
}): RawBuilder<boolean> {
  const values = valuesAt([{ key: 'metadata' }, { key: 'labels' }, { key }])
  const comparison = operator === 'Gt' ? sql`>` : sql`<`
  return sql`exists (select from unnest(${values}) v
    where case when v ~ '^[+-]?[0-9]+$' and length(v) < 1000 then v::numeric between -9223372036854775808 and 9223372036854775807
      and v::numeric ${comparison} ${value.toString()}::numeric end)`
}
