import { matrixTests } from './asking.ts'

matrixTests('public', 1, 2)
