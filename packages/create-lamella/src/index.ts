export { checkCores } from './check-cores.ts'
export type { CoreCheck, CoreProblem } from './check-cores.ts'
export { createPackage, kinds } from './create-package.ts'
export type { CreateOptions, PackageKind } from './create-package.ts'
