export * from './caller.ts'
export * from './extractor-info.ts'
export * from './kind.ts'
export * from './permission.ts'
