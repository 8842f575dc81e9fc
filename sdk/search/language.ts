/* `pounce/sdk/search/language`: parses queries as users type them. A separate entry point, so that the parser is loaded only where it is needed. */

export { checkQuery } from './check-query.ts'
export { conditionsOf, type QueryCondition, type QueryConditions } from './conditions.ts'
export { compareField, comparingOf, fieldContains, operatorSigns } from './fields.ts'
export { readQuery } from './read-query.ts'
export { readRegex } from './read-regex.ts'
