// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Executor} from "./Executor.sol";

interface IManager {
    struct Peer {
        bytes32 peerAddress;
        uint8 tokenDecimals;
    }

    function token() external view returns (address);
    function getPeer(uint16 chain) external view returns (Peer memory);
    function transfer(uint256 amount, uint16 chain, bytes32 recipient) external payable returns (uint64);
}

interface IMessengerV1 {
    function depositForBurn(uint256 amount, uint32 domain, bytes32 recipient, address token) external returns (uint64);
}

interface IMessengerV2 {
    function depositForBurn(
        uint256 amount,
        uint32 domain,
        bytes32 recipient,
        address token,
        bytes32 caller,
        uint256 maxFee,
        uint32 minFinality
    ) external;
}

/// Sends a transfer of the caller and pays for the delivery in one transaction, as NttManagerWithExecutor,
/// CCTPv1WithExecutor and CCTPv2WithExecutor do. The caller must approve this contract for the tokens.
contract PaidSender {
    struct Payment {
        uint16 dstChain;
        bytes signedQuote;
        bytes relayInstructions;
    }

    Executor private immutable executor;
    uint16 private immutable ourChain;

    constructor(Executor executor_) {
        executor = executor_;
        ourChain = executor_.ourChain();
    }

    function sendNtt(IManager manager, uint256 amount, bytes32 recipient, Payment calldata payment) external payable {
        take(manager.token(), amount, address(manager));
        uint64 id = manager.transfer(amount, payment.dstChain, recipient);
        bytes32 source = bytes32(uint256(uint160(address(manager))));
        request(
            payment,
            manager.getPeer(payment.dstChain).peerAddress,
            abi.encodePacked("ERN1", ourChain, source, bytes32(uint256(id)))
        );
    }

    function burnV1(
        IMessengerV1 messenger,
        address token,
        uint256 amount,
        uint32[2] calldata domains,
        bytes32 recipient,
        Payment calldata payment
    ) external payable {
        take(token, amount, address(messenger));
        uint64 nonce = messenger.depositForBurn(amount, domains[1], recipient, token);
        request(payment, 0, abi.encodePacked("ERC1", domains[0], nonce));
    }

    function burnV2(
        IMessengerV2 messenger,
        address token,
        uint256 amount,
        uint32 domain,
        bytes32 recipient,
        Payment calldata payment
    ) external payable {
        take(token, amount, address(messenger));
        messenger.depositForBurn(amount, domain, recipient, token, 0, 0, 2000);
        request(payment, 0, abi.encodePacked("ERC2", uint8(1)));
    }

    function take(address token, uint256 amount, address spender) private {
        IERC20(token).transferFrom(msg.sender, address(this), amount);
        IERC20(token).approve(spender, amount);
    }

    function request(Payment calldata payment, bytes32 dstAddr, bytes memory bytesOfRequest) private {
        executor.requestExecution{value: msg.value}(
            payment.dstChain, dstAddr, msg.sender, payment.signedQuote, bytesOfRequest, payment.relayInstructions
        );
    }
}
