// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// The native bridge as users and relayers see it (MIP-58, MIP-61). Each direction counts its own nonces from 1.
interface INativeBridge {
    event BridgeTransferInitiated(
        bytes32 indexed bridgeTransferId,
        address indexed originator,
        bytes32 indexed recipient,
        uint256 amount,
        uint256 nonce
    );
    event BridgeTransferCompleted(
        bytes32 indexed bridgeTransferId,
        bytes32 indexed originator,
        address indexed recipient,
        uint256 amount,
        uint256 nonce
    );
    event InsuranceFundUpdated(address insuranceFund);
    event PauseToggled(bool paused);
    event RiskDenominatorUpdated(uint256 riskDenominator);

    error ZeroAmount();
    error MOVETransferFailed();
    error ZeroAddress();
    error InvalidLenghts();
    error InvalidBridgeTransferId();
    error CompletedBridgeTransferId();
    error InvalidNonce();
    error OutboundRateLimitExceeded();
    error InboundRateLimitExceeded();
    error InvalidRiskDenominator();

    function initialize(address token, address admin, address relayer, address maintainer, address insuranceFund) external;

    function initiateBridgeTransfer(bytes32 recipient, uint256 amount) external returns (bytes32 bridgeTransferId);

    function completeBridgeTransfer(
        bytes32 bridgeTransferId,
        bytes32 initiator,
        address recipient,
        uint256 amount,
        uint256 nonce
    ) external;

    function batchCompleteBridgeTransfer(
        bytes32[] calldata bridgeTransferIds,
        bytes32[] calldata initiators,
        address[] calldata recipients,
        uint256[] calldata amounts,
        uint256[] calldata nonces
    ) external;

    function noncesToOutboundTransfers(
        uint256 nonce
    ) external view returns (bytes32 bridgeTransferId, address initiator, bytes32 recipient, uint256 amount);

    /// 0: not completed.
    function idsToInboundNonces(bytes32 bridgeTransferId) external view returns (uint256 nonce);

    /// Amount completed on this UTC day.
    function inboundRateLimitBudget(uint256 day) external view returns (uint256 used);

    function setInsuranceFund(address insuranceFund) external;

    function setRiskDenominator(uint256 riskDenominator) external;

    function togglePause() external;
}
