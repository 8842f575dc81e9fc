import { type PasswordCost, usualPasswordCost } from '../../sdk/passwords.ts'

/** What a password costs outside of tests. */
export const recommendedCost: PasswordCost = { ...usualPasswordCost }

// Loaded before each test file. What a password costs is for attackers to pay: tests sign in hundreds of times, and a server in a process of its own costs what it should.
Object.assign(usualPasswordCost, { memoryKiB: 64, passes: 1 })
