// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {Executor} from "./Executor.sol";

interface IPublisher {
    function chainId() external view returns (uint16);
    function messageFee() external view returns (uint256);
    function publishMessage(uint32 nonce, bytes calldata payload, uint8 consistencyLevel) external payable returns (uint64);
}

/// Publishes a message and pays for its delivery in one transaction, as an integrator's contract does.
contract MessageSender {
    IPublisher private immutable core;
    Executor private immutable executor;

    constructor(IPublisher core_, Executor executor_) {
        core = core_;
        executor = executor_;
    }

    function send(
        bytes calldata payload,
        uint16 dstChain,
        bytes32 dstAddr,
        bytes calldata signedQuote,
        bytes calldata relayInstructions
    ) external payable returns (uint64 sequence) {
        uint256 fee = core.messageFee();
        sequence = core.publishMessage{value: fee}(0, payload, 1);
        bytes memory request = abi.encodePacked("ERV1", core.chainId(), bytes32(uint256(uint160(address(this)))), sequence);
        executor.requestExecution{value: msg.value - fee}(
            dstChain, dstAddr, msg.sender, signedQuote, request, relayInstructions
        );
    }
}
