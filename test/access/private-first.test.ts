import test from 'ava'
import { matrixTests } from './matrix-tests.ts'

matrixTests(test, 'private', 0, 2)
