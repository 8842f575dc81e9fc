export * from './blob-store-contract.ts'
export * from './boot-for-test.ts'
export * from './fixed-clock.ts'
export * from './silent-log.ts'
