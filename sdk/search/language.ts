/*
 * `pounce/sdk/search/language`: queries as people type them. An entry of its own, so that no one else loads the parser.
 */

export { checkQuery } from './check-query.ts'
export { conditionsOf, type QueryCondition, type QueryConditions } from './conditions.ts'
export { compareField, comparingOf, fieldContains, operatorSigns } from './fields.ts'
export { readQuery } from './read-query.ts'
export { readRegex } from './read-regex.ts'
