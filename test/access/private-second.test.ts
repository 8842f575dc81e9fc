import { matrixTests } from './asking.ts'

matrixTests('private', 1, 2)
