// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {EnumerableSet} from "@openzeppelin/contracts/utils/structs/EnumerableSet.sol";
import {CctpMinter, CctpToken} from "./CctpTokens.sol";

interface ICctpHandler {
    function handleReceiveFinalizedMessage(uint32 domain, bytes32 sender, uint32 finality, bytes calldata body) external returns (bool);

    function handleReceiveUnfinalizedMessage(uint32 domain, bytes32 sender, uint32 finality, bytes calldata body) external returns (bool);
}

/// Replaces Circle's MessageTransmitterV2: same selectors, events, message format, checks and revert texts. Without
/// proxy and rescuer; one owner has all roles.
contract CctpTransmitterV2 {
    using EnumerableSet for EnumerableSet.AddressSet;

    event MessageSent(bytes message);
    event MessageReceived(
        address indexed caller,
        uint32 sourceDomain,
        bytes32 indexed nonce,
        bytes32 sender,
        uint32 indexed finalityThresholdExecuted,
        bytes messageBody
    );
    event AttesterEnabled(address indexed attester);
    event AttesterDisabled(address indexed attester);

    /// secp256k1's order, halved (EIP-2).
    uint256 private constant HIGHEST_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    address private immutable owner = msg.sender;
    uint32 public immutable localDomain;
    uint32 public constant version = 1;
    uint256 public constant maxMessageBodySize = 8192;
    uint256 public signatureThreshold;
    bool public paused;
    mapping(bytes32 nonce => uint256) public usedNonces;
    EnumerableSet.AddressSet private attesters;

    modifier onlyOwner() {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        _;
    }

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    constructor(uint32 domain, address[] memory enabled, uint256 threshold) {
        localDomain = domain;
        for (uint256 i = 0; i < enabled.length; i++) enableAttester(enabled[i]);
        setSignatureThreshold(threshold);
        usedNonces[bytes32(0)] = 1;
    }

    function sendMessage(uint32 destination, bytes32 recipient, bytes32 caller, uint32 minFinality, bytes calldata body)
        external
        whenNotPaused
    {
        require(destination != localDomain, "Domain is local domain");
        require(body.length <= maxMessageBodySize, "Message body exceeds max size");
        require(recipient != bytes32(0), "Recipient must be nonzero");
        bytes32 sender = bytes32(uint256(uint160(msg.sender)));
        // Circle chooses the nonce and the executed finality, so both are 0 here.
        bytes memory head = abi.encodePacked(version, localDomain, destination, bytes32(0), sender, recipient, caller);
        emit MessageSent(abi.encodePacked(head, minFinality, uint32(0), body));
    }

    function receiveMessage(bytes calldata message, bytes calldata attestation) external whenNotPaused returns (bool) {
        checkAttestation(message, attestation);
        require(message.length >= 148, "Invalid message: too short");
        require(uint32(bytes4(message[8:12])) == localDomain, "Invalid destination domain");
        bytes32 caller = bytes32(message[108:140]);
        require(caller == bytes32(0) || caller == bytes32(uint256(uint160(msg.sender))), "Invalid caller for message");
        require(uint32(bytes4(message[0:4])) == version, "Invalid message version");
        bytes32 nonce = bytes32(message[12:44]);
        require(usedNonces[nonce] == 0, "Nonce already used");
        usedNonces[nonce] = 1;
        deliver(message);
        uint32 finality = uint32(bytes4(message[144:148]));
        emit MessageReceived(msg.sender, uint32(bytes4(message[4:8])), nonce, bytes32(message[44:76]), finality, message[148:]);
        return true;
    }

    function deliver(bytes calldata message) private {
        ICctpHandler recipient = ICctpHandler(address(uint160(uint256(bytes32(message[76:108])))));
        uint32 source = uint32(bytes4(message[4:8]));
        bytes32 sender = bytes32(message[44:76]);
        uint32 finality = uint32(bytes4(message[144:148]));
        if (finality < 2000)
            require(
                recipient.handleReceiveUnfinalizedMessage(source, sender, finality, message[148:]),
                "handleReceiveUnfinalizedMessage() failed"
            );
        else
            require(
                recipient.handleReceiveFinalizedMessage(source, sender, finality, message[148:]),
                "handleReceiveFinalizedMessage() failed"
            );
    }

    function checkAttestation(bytes calldata message, bytes calldata attestation) private view {
        require(attestation.length == 65 * signatureThreshold, "Invalid attestation length");
        bytes32 digest = keccak256(message);
        address last = address(0);
        for (uint256 at = 0; at < attestation.length; at += 65) {
            bytes32 s = bytes32(attestation[at + 32:at + 64]);
            uint8 v = uint8(attestation[at + 64]);
            require(uint256(s) <= HIGHEST_S, "ECDSA: invalid signature 's' value");
            require(v == 27 || v == 28, "ECDSA: invalid signature 'v' value");
            address attester = ecrecover(digest, v, bytes32(attestation[at:at + 32]), s);
            require(attester != address(0), "ECDSA: invalid signature");
            require(attester > last, "Invalid signature order or dupe");
            require(attesters.contains(attester), "Invalid signature: not attester");
            last = attester;
        }
    }

    function isEnabledAttester(address attester) external view returns (bool) {
        return attesters.contains(attester);
    }

    function getNumEnabledAttesters() external view returns (uint256) {
        return attesters.length();
    }

    function getEnabledAttester(uint256 index) external view returns (address) {
        return attesters.at(index);
    }

    function enableAttester(address attester) public onlyOwner {
        require(attesters.add(attester), "Attester already enabled");
        emit AttesterEnabled(attester);
    }

    function disableAttester(address attester) external onlyOwner {
        require(attesters.length() > signatureThreshold, "Signature threshold is too low");
        require(attesters.remove(attester), "Attester already disabled");
        emit AttesterDisabled(attester);
    }

    function setSignatureThreshold(uint256 threshold) public onlyOwner {
        require(threshold > 0, "Invalid signature threshold");
        require(threshold <= attesters.length(), "New signature threshold too high");
        signatureThreshold = threshold;
    }

    function pause() external onlyOwner {
        paused = true;
    }

    function unpause() external onlyOwner {
        paused = false;
    }
}

/// Replaces Circle's TokenMessengerV2, without deny-list and minimum fee.
contract CctpMessengerV2 is ICctpHandler {
    event DepositForBurn(
        address indexed burnToken,
        uint256 amount,
        address indexed depositor,
        bytes32 mintRecipient,
        uint32 destinationDomain,
        bytes32 destinationTokenMessenger,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 indexed minFinalityThreshold,
        bytes hookData
    );
    event MintAndWithdraw(address indexed mintRecipient, uint256 amount, address indexed mintToken, uint256 feeCollected);

    struct Deposit {
        uint256 amount;
        uint32 destination;
        bytes32 mintRecipient;
        address token;
        bytes32 caller;
        uint256 maxFee;
        uint32 minFinality;
    }

    address private immutable owner = msg.sender;
    CctpTransmitterV2 public immutable localMessageTransmitter;
    CctpMinter public immutable localMinter;
    address public immutable feeRecipient;
    uint32 public constant messageBodyVersion = 1;
    mapping(uint32 domain => bytes32) public remoteTokenMessengers;

    constructor(CctpTransmitterV2 transmitter, CctpMinter minter, address feeTo) {
        localMessageTransmitter = transmitter;
        localMinter = minter;
        feeRecipient = feeTo;
    }

    function addRemoteTokenMessenger(uint32 domain, bytes32 messenger) external {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        require(remoteTokenMessengers[domain] == bytes32(0), "TokenMessenger already set");
        remoteTokenMessengers[domain] = messenger;
    }

    function depositForBurn(
        uint256 amount,
        uint32 destination,
        bytes32 mintRecipient,
        address token,
        bytes32 caller,
        uint256 maxFee,
        uint32 minFinality
    ) external {
        deposit(Deposit(amount, destination, mintRecipient, token, caller, maxFee, minFinality), "");
    }

    function depositForBurnWithHook(
        uint256 amount,
        uint32 destination,
        bytes32 mintRecipient,
        address token,
        bytes32 caller,
        uint256 maxFee,
        uint32 minFinality,
        bytes calldata hookData
    ) external {
        require(hookData.length > 0, "Hook data is empty");
        deposit(Deposit(amount, destination, mintRecipient, token, caller, maxFee, minFinality), hookData);
    }

    function deposit(Deposit memory d, bytes memory hookData) private {
        require(d.amount > 0, "Amount must be nonzero");
        require(d.mintRecipient != bytes32(0), "Mint recipient must be nonzero");
        require(d.maxFee < d.amount, "Max fee must be less than amount");
        bytes32 remote = remoteTokenMessengers[d.destination];
        require(remote != bytes32(0), "No TokenMessenger for domain");
        require(CctpToken(d.token).transferFrom(msg.sender, address(localMinter), d.amount), "Transfer operation failed");
        localMinter.burn(d.token, d.amount);
        bytes memory body = abi.encodePacked(
            messageBodyVersion,
            bytes32(uint256(uint160(d.token))),
            d.mintRecipient,
            d.amount,
            bytes32(uint256(uint160(msg.sender))),
            d.maxFee,
            // Circle sets the fee and the expiration block, so both are 0 here.
            uint256(0),
            uint256(0),
            hookData
        );
        localMessageTransmitter.sendMessage(d.destination, remote, d.caller, d.minFinality, body);
        emit DepositForBurn(
            d.token, d.amount, msg.sender, d.mintRecipient, d.destination, remote, d.caller, d.maxFee, d.minFinality, hookData
        );
    }

    function handleReceiveFinalizedMessage(uint32 domain, bytes32 sender, uint32 finality, bytes calldata body) external returns (bool) {
        return receiveBurn(domain, sender, finality, body);
    }

    function handleReceiveUnfinalizedMessage(uint32 domain, bytes32 sender, uint32 finality, bytes calldata body)
        external
        returns (bool)
    {
        return receiveBurn(domain, sender, finality, body);
    }

    function receiveBurn(uint32 domain, bytes32 sender, uint32 finality, bytes calldata body) private returns (bool) {
        require(msg.sender == address(localMessageTransmitter), "Invalid message transmitter");
        require(sender != bytes32(0) && remoteTokenMessengers[domain] == sender, "Remote TokenMessenger unsupported");
        require(finality >= 500, "Unsupported finality threshold");
        require(body.length >= 228, "Invalid burn message: too short");
        require(uint32(bytes4(body[0:4])) == messageBodyVersion, "Invalid message body version");
        uint256 expiration = uint256(bytes32(body[196:228]));
        require(expiration == 0 || expiration > block.number, "Message expired and must be re-signed");
        uint256 amount = uint256(bytes32(body[68:100]));
        uint256 fee = uint256(bytes32(body[164:196]));
        require(fee == 0 || fee < amount, "Fee equals or exceeds amount");
        require(fee <= uint256(bytes32(body[132:164])), "Fee exceeds max fee");
        address recipient = address(uint160(uint256(bytes32(body[36:68]))));
        bytes32 token = bytes32(body[4:36]);
        address minted = fee > 0
            ? localMinter.mint(domain, token, recipient, feeRecipient, amount - fee, fee)
            : localMinter.mint(domain, token, recipient, amount);
        emit MintAndWithdraw(recipient, amount - fee, minted, fee);
        return true;
    }
}
