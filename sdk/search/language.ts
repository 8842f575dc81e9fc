export * from './check-query.ts'
export * from './fields.ts'
export * from './read-query.ts'
export * from './read-regex.ts'
