// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Initializable} from "@openzeppelin/contracts/proxy/utils/Initializable.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {INativeBridge} from "./INativeBridge.sol";

/// Common part of both variants. Tokens that leave the chain stay in the contract until they come back.
abstract contract NativeBridge is INativeBridge, AccessControl, Pausable, Initializable {
    struct OutboundTransfer {
        bytes32 bridgeTransferId;
        address initiator;
        bytes32 recipient;
        uint256 amount;
    }

    bytes32 public constant RELAYER_ROLE = keccak256("RELAYER_ROLE");
    uint256 internal constant leastRiskDenominator = 4;

    mapping(uint256 nonce => OutboundTransfer) public noncesToOutboundTransfers;
    mapping(bytes32 bridgeTransferId => uint256) public idsToInboundNonces;
    mapping(uint256 day => uint256) public inboundRateLimitBudget;

    IERC20 public token;
    address public insuranceFund;
    uint256 public riskDenominator;
    uint256 private lastNonce;

    function initialize(address token_, address admin, address relayer, address maintainer, address insuranceFund_) external initializer {
        if (token_ == address(0) || admin == address(0) || insuranceFund_ == address(0)) revert ZeroAddress();
        token = IERC20(token_);
        insuranceFund = insuranceFund_;
        riskDenominator = leastRiskDenominator;
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
        _grantRole(RELAYER_ROLE, relayer);
        // The maintainer completes transfers that a relayer could not complete, so it has the relayer's role too.
        _grantRole(RELAYER_ROLE, maintainer);
    }

    function initiateBridgeTransfer(bytes32 recipient, uint256 amount) external whenNotPaused returns (bytes32 id) {
        if (amount == 0) revert ZeroAmount();
        uint256 nonce = ++lastNonce;
        id = keccak256(abi.encodePacked(msg.sender, recipient, amount, nonce));
        noncesToOutboundTransfers[nonce] = OutboundTransfer(id, msg.sender, recipient, amount);
        if (!token.transferFrom(msg.sender, address(this), amount)) revert MOVETransferFailed();
        emit BridgeTransferInitiated(id, msg.sender, recipient, amount, nonce);
    }

    function completeBridgeTransfer(
        bytes32 bridgeTransferId,
        bytes32 initiator,
        address recipient,
        uint256 amount,
        uint256 nonce
    ) external onlyRole(RELAYER_ROLE) {
        _complete(bridgeTransferId, initiator, recipient, amount, nonce);
    }

    function batchCompleteBridgeTransfer(
        bytes32[] calldata bridgeTransferIds,
        bytes32[] calldata initiators,
        address[] calldata recipients,
        uint256[] calldata amounts,
        uint256[] calldata nonces
    ) external onlyRole(RELAYER_ROLE) {
        uint256 count = bridgeTransferIds.length;
        if (initiators.length != count || recipients.length != count || amounts.length != count || nonces.length != count) {
            revert InvalidLenghts();
        }
        for (uint256 i = 0; i < count; i++) {
            _complete(bridgeTransferIds[i], initiators[i], recipients[i], amounts[i], nonces[i]);
        }
    }

    function setInsuranceFund(address insuranceFund_) external onlyRole(DEFAULT_ADMIN_ROLE) {
        if (insuranceFund_ == address(0)) revert ZeroAddress();
        insuranceFund = insuranceFund_;
        emit InsuranceFundUpdated(insuranceFund_);
    }

    function setRiskDenominator(uint256 riskDenominator_) external onlyRole(DEFAULT_ADMIN_ROLE) {
        if (riskDenominator_ < leastRiskDenominator) revert InvalidRiskDenominator();
        riskDenominator = riskDenominator_;
        emit RiskDenominatorUpdated(riskDenominator_);
    }

    /// The sequence of these checks is part of the interface: when the day's budget is spent, the first check reverts,
    /// so callers cannot see that a transfer is already completed.
    function _complete(bytes32 id, bytes32 initiator, address recipient, uint256 amount, uint256 nonce) private {
        _spendInboundBudget(amount);
        if (nonce == 0) revert InvalidNonce();
        if (idsToInboundNonces[id] != 0) revert CompletedBridgeTransferId();
        if (id != keccak256(abi.encodePacked(initiator, recipient, amount, nonce))) revert InvalidBridgeTransferId();
        idsToInboundNonces[id] = nonce;
        if (!token.transfer(recipient, amount)) revert MOVETransferFailed();
        emit BridgeTransferCompleted(id, initiator, recipient, amount, nonce);
    }

    /// Keeps the amount of a UTC day below the insurance fund's balance divided by the risk denominator. An empty fund
    /// completes nothing.
    function _spendInboundBudget(uint256 amount) internal {
        uint256 day = block.timestamp / 1 days;
        uint256 used = inboundRateLimitBudget[day] + amount;
        if (used >= token.balanceOf(insuranceFund) / riskDenominator) revert InboundRateLimitExceeded();
        inboundRateLimitBudget[day] = used;
    }
}
