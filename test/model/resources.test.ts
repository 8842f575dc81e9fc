import test from 'ava'
import { resourcesModel } from './resources-model.ts'

resourcesModel(test)
