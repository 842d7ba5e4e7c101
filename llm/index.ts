export type { Gateway } from './gateway.ts';
export { startGateway } from './gateway.ts';
export { openGatewayModel, takeAttempt } from './gateway-model.ts';
export type { UsageEvent } from './money/ledger.ts';
export { loadPrices } from './money/price-file.ts';
export type { PriceTable } from './money/price-table.ts';
export type { FallbackOptions, GatewayOptions, ModelNames } from './options.ts';
