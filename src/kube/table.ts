/** meta.k8s.io/v1 Table: what kubectl asks for to print columns. */

export interface ColumnDefinition {
  readonly name: string
  /** `string`, `integer`, `number`, `boolean` or `date`. */
  readonly type: string
  /** `name` marks the column that kubectl treats as the object's name; mostly `''`. */
  readonly format: string
  readonly description: string
  /** 0 is always shown, anything above only with `-o wide`. */
  readonly priority: number
}
