import test from 'ava'
import { matrixTests } from './asking.ts'

matrixTests(test, 'private', 0, 2)
